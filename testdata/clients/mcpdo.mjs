// mcpdo of the MCP Inspector: a daemon holds the connection, and each command
// is a process of its own. A form comes back as the result of a command, and is
// answered by another one.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { answer, job, keep, print, saw } from './job.mjs';

const home = process.env.HOME; // this run's own
const bin = fileURLToPath(new URL('node_modules/.bin/mcpdo', import.meta.url));
const env = {
  ...process.env,
  MCP_CATALOG_PATH: `${home}/catalog.json`, MCP_INSPECTOR_SECRET_STORE: 'file',
  MCP_INSPECTOR_DAEMON_DIR: `${home}/daemon`, MCP_INSPECTOR_DAEMON_TOKEN: 'of-this-run',
};

async function mcpdo(...args) {
  const run = promisify(execFile)(process.execPath, [bin, '--format', 'json', '--connection', 'broker', ...args], { env });
  const { stdout, stderr } = await run.catch((err) => err);
  if (!stdout) throw new Error(JSON.parse(stderr.match(/^{"error".*/m)?.[0] ?? '{}').error?.message ?? stderr);
  return JSON.parse(stdout);
}

// The daemon is in no process group of ours. Its lock file has its process id,
// which would otherwise take one more command, of a second each.
const killDaemon = (signal) => process.kill(Number(readFileSync(`${env.MCP_INSPECTOR_DAEMON_DIR}/mcpdod.lock`, 'utf8')), signal);

// structured is the result of a tool, and answers the form where there is one.
async function structured(out) {
  const form = out.elicitationPending;
  if (!form) {
    if (!out.structuredContent || out.structuredContent.error) throw new Error(JSON.stringify(out));
    return out.structuredContent;
  }
  const { action, content } = await answer(form, () => killDaemon('SIGKILL'));
  const how = action === 'accept' ? JSON.stringify(content) : `--${action}`;
  return structured(await mcpdo('elicitation/respond', form.elicitationId, how));
}

const call = async (name, args) => structured(await mcpdo('tools/call', name, JSON.stringify(args)));

const [command, ...args] = job.command ?? [];
const server = job.url ? { type: 'http', url: job.url } : { type: 'stdio', command, args, env: process.env };
writeFileSync(env.MCP_CATALOG_PATH, JSON.stringify({ mcpServers: { broker: { ...server, requestTimeout: 600_000 } } }));
mkdirSync(env.MCP_INSPECTOR_DAEMON_DIR);
try {
  await mcpdo('connect', 'broker', '--connect-timeout', '60000', '--era', job.era, '--elicit', job.answer === 'none' ? 'off' : 'form');
  // Once is enough: a command takes a second.
  if (job.answer === 'accept') saw.read = (await call('fabric_search', { kind: 'port' })).items.length;
  const proposed = await call('fabric_propose_change', job.propose);
  await keep(call, () => call('fabric_confirm_change', { confirm_token: proposed.confirm_token }), proposed);
  print();
} finally {
  killDaemon('SIGTERM');
}
