// Plays events, one JSON object a line, to a plugin: node play.mjs PLUGIN EVENTS.
// A last prompt, of session ses_end, follows them. It ends with its standard input.
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const [plugin, events] = process.argv.slice(2)
const client = { session: { get: async ({ path }) => {
  if (path.id === "ses_broken") throw new Error("no answer")
  return { data: path.id === "ses_inner" ? { parentID: "ses_outer" } : {} }
} } }
const { AgentSessions } = await import(pathToFileURL(plugin).href)
const hooks = await AgentSessions({ client })
const last = JSON.stringify({ message: { sessionID: "ses_end" } })
for (const line of [...readFileSync(events, "utf8").trimEnd().split("\n"), last]) {
  const { event, message } = JSON.parse(line)
  await (event ? hooks.event({ event }) : hooks["chat.message"](message))
  await new Promise(setImmediate)
}
process.stdin.resume()
