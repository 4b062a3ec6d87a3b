/** The OpenAPI document: its general part, and the route that returns it (REG-8). */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { IMPLEMENTATION } from '../shared/protocol.ts';
import { ProblemSchema, responsesOf, type Api } from './frame.ts';

const PATH = '/openapi.json';

const TAGS = [
  { name: 'servers', description: 'The registry: MCP servers and their lifecycle.' },
  { name: 'connectors', description: 'Machines that offer their stdio servers.' },
  { name: 'transfer', description: 'The registry as a file: import from clients, export to them.' },
  { name: 'secrets', description: 'Values that credentials of servers refer to; never shown.' },
  { name: 'owners', description: 'Which records a file of configuration keeps.' },
  {
    name: 'tools',
    description: 'The tools of all servers, and calling them without an MCP client.',
  },
  {
    name: 'approvals',
    description: 'Definitions of tools that are held until somebody approves them.',
  },
  { name: 'health', description: 'How servers are, and were.' },
  { name: 'principals', description: 'Who calls: people and programs, their groups and scopes.' },
  { name: 'tokens', description: 'Bearer tokens of clients and administrators.' },
  { name: 'sign-in', description: 'Programs that people let in, and what they allowed them.' },
  { name: 'model', description: 'The language model of the deployment, and what it was used for.' },
  { name: 'ask', description: 'One guarded call in words, and what may be asked for.' },
  { name: 'chat', description: 'Conversations with a language model that calls tools.' },
  { name: 'access', description: 'Rules that say who may use what.' },
  { name: 'toolsets', description: 'Selections of tools with an endpoint of their own.' },
  {
    name: 'skills',
    description: 'Classes of tools: the taxonomy, which tools are in it, and what is suggested.',
  },
  {
    name: 'cache',
    description: 'Rules that say which tools may be answered with a result of before.',
  },
  { name: 'audit', description: 'What was done, by whom, in a chain that shows changes.' },
  { name: 'usage', description: 'How much was called, by day.' },
  {
    name: 'keys',
    description: 'What lies under which key of the ring, and moving it to the active one.',
  },
  { name: 'webhooks', description: 'Who is told of events, and what became of each.' },
  { name: 'events', description: 'Being told what changed, while it does.' },
  { name: 'document', description: 'This description.' },
];

const description = `The administration of Portico, one MCP endpoint in front of many MCP servers.

Every request carries \`Authorization: Bearer …\`. Errors are problem documents (RFC 9457) whose \`code\` is stable; the codes a
route can give stand with it. Lists come in pages: go on with \`next_cursor\`. Edits can name the revision they are made of
(\`ETag\`, \`If-Match\`).`;

const document = createRoute({
  method: 'get',
  path: PATH,
  operationId: 'getOpenApi',
  tags: ['document'],
  summary: 'Get this document',
  responses: responsesOf(
    200,
    'OpenAPI 3.1',
    z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }),
    { example: { openapi: '3.1.0', info: { title: 'Portico' }, paths: {} } },
  ),
});

/** Adds the document and its route. Must come after all other routes. */
export function registerDocument(api: Api): void {
  const { openAPIRegistry: registry } = api;
  registry.register('Problem', ProblemSchema);
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of this deployment. What an operation needs stands in its requirement.',
  });
  registry.registerComponent('securitySchemes', 'device', {
    type: 'http',
    scheme: 'bearer',
    description: 'The device token of a connector.',
  });
  let text: string | undefined;
  api.openapi(document, context => {
    text ??= JSON.stringify(toDocument(api));
    return context.body(text, 200, { 'content-type': 'application/json' });
  });
}

function toDocument(api: Api) {
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Portico',
      version: IMPLEMENTATION.version,
      description,
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This deployment' }],
    security: [{ bearer: [] }],
    tags: TAGS,
  });
}
