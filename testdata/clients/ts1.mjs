// The official TypeScript client, version 1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { drive, job, onForm } from './job.mjs';

const capabilities = job.answer === 'none' ? {} : { elicitation: {} };
const client = new Client({ name: 'ts1', version: '1' }, { capabilities });
if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, onForm);

const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: process.env, stderr: 'ignore' });
await client.connect(transport);
await drive(client, (params, options) => client.callTool(params, undefined, options));
