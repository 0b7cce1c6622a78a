-- Three tables of opencode 1.18.33's own database, and one session in them.
CREATE TABLE `session` (
	`id` text PRIMARY KEY,
	`project_id` text NOT NULL,
	`workspace_id` text,
	`parent_id` text,
	`slug` text NOT NULL,
	`directory` text NOT NULL,
	`path` text,
	`title` text NOT NULL,
	`version` text NOT NULL,
	`share_url` text,
	`summary_additions` integer,
	`summary_deletions` integer,
	`summary_files` integer,
	`summary_diffs` text,
	`metadata` text,
	`cost` real DEFAULT 0 NOT NULL,
	`tokens_input` integer DEFAULT 0 NOT NULL,
	`tokens_output` integer DEFAULT 0 NOT NULL,
	`tokens_reasoning` integer DEFAULT 0 NOT NULL,
	`tokens_cache_read` integer DEFAULT 0 NOT NULL,
	`tokens_cache_write` integer DEFAULT 0 NOT NULL,
	`revert` text,
	`permission` text,
	`agent` text,
	`model` text,
	`time_created` integer NOT NULL,
	`time_updated` integer NOT NULL,
	`time_compacting` integer,
	`time_archived` integer
	);
CREATE TABLE `message` (
	`id` text PRIMARY KEY,
	`session_id` text NOT NULL,
	`time_created` integer NOT NULL,
	`time_updated` integer NOT NULL,
	`data` text NOT NULL,
	CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE
	);
CREATE TABLE `part` (
	`id` text PRIMARY KEY,
	`message_id` text NOT NULL,
	`session_id` text NOT NULL,
	`time_created` integer NOT NULL,
	`time_updated` integer NOT NULL,
	`data` text NOT NULL,
	CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE
	);
CREATE INDEX `message_session_time_created_id_idx` ON `message` (`session_id`,`time_created`,`id`);
CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);
CREATE INDEX `part_session_idx` ON `part` (`session_id`);
CREATE INDEX `session_project_idx` ON `session` (`project_id`);
CREATE INDEX `session_workspace_idx` ON `session` (`workspace_id`);
CREATE INDEX `session_parent_idx` ON `session` (`parent_id`);
INSERT INTO session VALUES ('ses_dd65dcb9bffeexQVPCga9sWGca', 'eac9d969ba2b2c41d7182be4b1862284d505343c', NULL, NULL, 'eager-harbor', '/home/user/work', '', 'A title', '1.18.33', NULL, 0, 0, 0, NULL, NULL, 0.0, 200, 40, 0, 0, 0, NULL, NULL, 'build', '{"id":"model","providerID":"loopback"}', 1795994825828, 1795994833047, NULL, NULL);
INSERT INTO message VALUES ('msg_229a234e3001rfb7V13Ih8NrEv', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994825955, 1795994833225, '{"role":"user","time":{"created":1795994825955},"agent":"build","model":{"providerID":"loopback","modelID":"model"},"summary":{"diffs":[{"file":"made.txt","patch":"Index: made.txt\n===================================================================\n--- made.txt\t\n+++ made.txt\t\n@@ -0,0 +1,1 @@\n+made\n","additions":1,"deletions":0,"status":"added"}]}}');
INSERT INTO message VALUES ('msg_229a2367a0014Xi1YIphlKylz8', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994826362, 1795994833041, '{"parentID":"msg_229a234e3001rfb7V13Ih8NrEv","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/user/work","root":"/home/user/work"},"cost":0,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"model","providerID":"loopback","time":{"created":1795994826362,"completed":1795994833040},"finish":"tool-calls"}');
INSERT INTO message VALUES ('msg_229a25095001iXQvvd51e8dZ5g', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994833045, 1795994833468, '{"parentID":"msg_229a234e3001rfb7V13Ih8NrEv","role":"assistant","mode":"build","agent":"build","path":{"cwd":"/home/user/work","root":"/home/user/work"},"cost":0,"tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"modelID":"model","providerID":"loopback","time":{"created":1795994833045,"completed":1795994833465},"finish":"stop","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}');
INSERT INTO part VALUES ('prt_229a234e7001FoJGDPPCrWgFjS', 'msg_229a234e3001rfb7V13Ih8NrEv', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994825970, 1795994825975, '{"type":"text","text":"make a file"}');
INSERT INTO part VALUES ('prt_229a24cb9001weo2UBIKBSDotP', 'msg_229a2367a0014Xi1YIphlKylz8', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994832057, 1795994832059, '{"snapshot":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","type":"step-start"}');
INSERT INTO part VALUES ('prt_229a24cbd001aGJ8AoVWhkPw16', 'msg_229a2367a0014Xi1YIphlKylz8', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994832061, 1795994832119, '{"type":"text","text":"I will make it.","time":{"start":1795994832061,"end":1795994832118}}');
INSERT INTO part VALUES ('prt_229a24ccb001x5DdbRgbRY7SId', 'msg_229a2367a0014Xi1YIphlKylz8', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994832075, 1795994832579, '{"type":"tool","tool":"bash","callID":"call_7d3b9ab4995e43328d128e71cfe1b9e7","state":{"status":"completed","input":{"command":"echo made > made.txt","description":"Run a command"},"output":"(no output)","metadata":{"output":"(no output)","exit":0,"truncated":false},"title":"echo made > made.txt","time":{"start":1795994832107,"end":1795994832577}}}');
INSERT INTO part VALUES ('prt_229a25042001u1rh9beFbki5qW', 'msg_229a2367a0014Xi1YIphlKylz8', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994832962, 1795994832964, '{"reason":"tool-calls","snapshot":"6a9e983a197227d3c9dc861105ae8d5983aca615","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
INSERT INTO part VALUES ('prt_229a2508b001Pwcn95LR3kO1dc', 'msg_229a2367a0014Xi1YIphlKylz8', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994833036, 1795994833037, '{"type":"patch","hash":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","files":["/home/user/work/made.txt"]}');
INSERT INTO part VALUES ('prt_229a2510d001WAzNXLNzAx51m5', 'msg_229a25095001iXQvvd51e8dZ5g', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994833166, 1795994833168, '{"snapshot":"6a9e983a197227d3c9dc861105ae8d5983aca615","type":"step-start"}');
INSERT INTO part VALUES ('prt_229a25112001wceuz3Ex3pXacG', 'msg_229a25095001iXQvvd51e8dZ5g', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994833170, 1795994833174, '{"type":"text","text":"The file is made.","time":{"start":1795994833170,"end":1795994833173}}');
INSERT INTO part VALUES ('prt_229a25173001AvKdpy3hj3BcFy', 'msg_229a25095001iXQvvd51e8dZ5g', 'ses_dd65dcb9bffeexQVPCga9sWGca', 1795994833267, 1795994833268, '{"reason":"stop","snapshot":"6a9e983a197227d3c9dc861105ae8d5983aca615","type":"step-finish","tokens":{"total":120,"input":100,"output":20,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}');
