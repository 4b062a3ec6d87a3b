/** The OpenAPI document: its general part, and the route that returns it (REG-8). */
import { z } from 'zod';
import { IMPLEMENTATION } from '../shared/protocol.ts';
import { createRoute, ProblemSchema, responsesOf, type Api } from './frame.ts';

const PATH = '/openapi.json';

const TAGS = [
  { name: 'servers', description: 'The registry: MCP servers and their lifecycle.' },
  { name: 'connectors', description: 'Machines that offer their stdio servers.' },
  { name: 'transfer', description: 'The registry as a file: import from clients, export to them.' },
  { name: 'secrets', description: 'Values that credentials of servers refer to; never shown.' },
  { name: 'owners', description: 'Which records a configuration file manages.' },
  {
    name: 'tools',
    description: 'The tools of all servers, and calling them without an MCP client.',
  },
  {
    name: 'approvals',
    description: 'Definitions of tools that are held until somebody approves them.',
  },
  { name: 'health', description: 'Health of servers, now and over time.' },
  {
    name: 'principals',
    description: 'People and programs that make calls, their groups and scopes.',
  },
  { name: 'tokens', description: 'Bearer tokens of clients and administrators.' },
  {
    name: 'sign-in',
    description: 'Programs that people signed in to, and what they allowed them.',
  },
  { name: 'model', description: 'The language model of the deployment, and what it was used for.' },
  {
    name: 'ask',
    description:
      'One checked call for a request in words, and the tools that may be called for it.',
  },
  { name: 'chat', description: 'Conversations with a language model that calls tools.' },
  { name: 'access', description: 'Rules that say who may use what.' },
  { name: 'toolsets', description: 'Selections of tools with an endpoint of their own.' },
  {
    name: 'skills',
    description: 'Classes of tools: the taxonomy, which tools are in it, and suggested skills.',
  },
  {
    name: 'cache',
    description: 'Rules that say which tools may be answered from the cache.',
  },
  {
    name: 'audit',
    description: 'What was done, and by whom, in hash chains that show later changes.',
  },
  { name: 'usage', description: 'How many calls were made, by day.' },
  {
    name: 'keys',
    description:
      'Which key of the key ring seals which records, and moving them to the active key.',
  },
  { name: 'webhooks', description: 'Where events are sent, and the outcome of each delivery.' },
  { name: 'events', description: 'A stream of changes as they happen.' },
  { name: 'document', description: 'This description.' },
];

const description = `The administration of Portico, one MCP endpoint in front of many MCP servers.

Every request carries \`Authorization: Bearer …\`. Errors are problem documents (RFC 9457) whose \`code\` is stable; each
route lists its codes. Lists come in pages: continue with \`next_cursor\`. Edits can name the revision that they are based on
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
    description: 'A token of this deployment. Each operation lists the scopes that it needs.',
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
