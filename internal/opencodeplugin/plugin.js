// Written by agent-sessions, which a shim names this file to: it tells which
// session this opencode carries and whose turn it is. Nothing here waits for
// an answer or fails the program it is in.
import { spawn } from "node:child_process"

const companion = "@COMPANION@"

// How many reports may wait for their turn: an opencode that works faster than
// they are taken in loses the oldest.
const limit = 64

const waiting = []
let busy = false

function next() {
  const report = waiting.shift()
  if (report === undefined) {
    busy = false
    return
  }
  busy = true
  try {
    const child = spawn(companion, ["hook", "opencode"], { stdio: ["pipe", "ignore", "ignore"] })
    let ended = false
    const end = () => {
      if (!ended) {
        ended = true
        next()
      }
    }
    child.on("error", end)
    child.on("exit", end)
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(report))
    child.unref()
  } catch {
    next()
  }
}

function tell(event, session) {
  waiting.push({ hook_event_name: event, session_id: session })
  if (waiting.length > limit) waiting.shift()
  if (!busy) next()
}

export const AgentSessions = async ({ client }) => {
  // Sessions by id: true for a subagent's, which is not the person's own.
  const inner = new Map()
  const own = async (id) => {
    if (!id) return false
    if (!inner.has(id)) {
      const found = await client.session.get({ path: { id } }).catch(() => undefined)
      inner.set(id, Boolean(found?.data?.parentID))
    }
    return !inner.get(id)
  }
  return {
    "chat.message": async ({ sessionID }) => {
      own(sessionID).then((yes) => yes && tell("prompt", sessionID)).catch(() => {})
    },
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      switch (event.type) {
        case "session.created":
          inner.set(info.id, Boolean(info.parentID))
          if (!info.parentID) tell("created", info.id)
          return
        case "session.idle":
        case "permission.asked":
        case "permission.updated":
          own(sessionID).then((yes) => yes && tell(event.type === "session.idle" ? "idle" : "asked", sessionID)).catch(() => {})
      }
    },
  }
}
