// The official TypeScript client, version 2.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { drive, job, onForm } from './job.mjs';

const capabilities = job.answer === 'none' ? {} : { elicitation: { form: {} } };
const mode = job.era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
const client = new Client({ name: 'ts2', version: '1' }, { capabilities, versionNegotiation: { mode } });
if (capabilities.elicitation) client.setRequestHandler('elicitation/create', onForm);

const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: process.env, stderr: 'ignore' });
await client.connect(transport);
await drive(client, (params, options) => client.callTool(params, options));
