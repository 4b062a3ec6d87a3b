/** `/api/v1/aggregator/import` and `/export`: imports servers from clients' files, and exports configuration for clients (REG-6). */
import { z } from 'zod';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { CLIENTS, toClientConfig } from '../servers/transfer/client-config.ts';
import { CONFLICT_RULES } from '../servers/transfer/import-plan.ts';
import type { ImportedEntry } from '../servers/transfer/import-service.ts';
import { toRegistryExport } from '../servers/transfer/registry-export.ts';
import { CreateServerSchema } from '../servers/registry/server-schema.ts';
import { createRoute, needs, responsesOf, type Api, type ApiPorts } from './frame.ts';
import { exampleExport, exampleFile, exampleImport } from './transfer-examples.ts';

const tags = ['transfer'];
const flag = z.enum(['true', 'false']).default('false');

const ImportSchema = z
  .object({
    dry_run: z.boolean(),
    entries: z.array(
      z.object({
        given_name: z.string().meta({ description: 'Its name in the file' }),
        name: z.string().meta({ description: 'Its name in the registry' }),
        path: z.string().meta({ description: 'Its place in the file' }),
        action: z.enum(['create', 'update', 'skip', 'unsupported', 'invalid', 'failed']),
        server_id: z.string().optional(),
        reasons: z.array(z.string()),
        problems: z.array(z.object({ field: z.string(), message: z.string() })),
        secrets: z.array(z.string()).meta({
          description: 'Names of the secrets that are stored for it; never their values',
        }),
      }),
    ),
  })
  .meta({ id: 'Import' });

const importServers = createRoute({
  method: 'post',
  path: '/api/v1/aggregator/import',
  operationId: 'importServers',
  tags,
  summary: 'Import servers from a file',
  description:
    'Accepts an mcp.json of a client as it is, with comments, or an export of a registry. Secrets in headers are stored as secrets, which needs `secrets:write`; ' +
    'placeholders become references to secrets that must exist. If anything is wrong, nothing is done. A dry run reports what would be done, and what is wrong.',
  ...needs('servers:write'),
  request: {
    query: z.strictObject({
      dry_run: flag.meta({ description: 'Only report; do nothing' }),
      on_conflict: z.enum(CONFLICT_RULES).default('skip').meta({
        description: 'What to do with an entry whose name a server already has',
      }),
    }),
    // Read as text, since these files may hold comments.
    body: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object' as const,
            properties: { mcpServers: { type: 'object' as const }, servers: {} },
            additionalProperties: true,
          },
          example: exampleFile,
        },
      },
    },
  },
  errors: ['conflict'],
  responses: responsesOf(200, 'What was done, or would be', ImportSchema, {
    example: exampleImport,
  }),
});

const RegistryExportSchema = z.object({
  format: z.literal('registry'),
  servers: z.array(CreateServerSchema),
  left_out: z.array(z.object({ name: z.string(), fields: z.array(z.string()) })).meta({
    description: 'Values that are not references to secrets, and so are not shown',
  }),
  secrets: z.array(z.string()).meta({ description: 'Secrets that the servers refer to' }),
});
const ClientExportSchema = z.object({
  format: z.literal('client'),
  client: z.enum(CLIENTS),
  title: z.string(),
  text: z.string().meta({ description: 'Ready to paste, with a placeholder for the token' }),
});

const exportServers = createRoute({
  method: 'get',
  path: '/api/v1/aggregator/export',
  operationId: 'exportServers',
  tags,
  summary: 'Export the registry, or configuration for a client',
  description:
    '`registry` gives all servers in the form that an import accepts. `client` gives the configuration with which a client uses this gateway.',
  ...needs('servers:read'),
  request: {
    query: z.strictObject({
      format: z.enum(['registry', 'client']).default('registry'),
      client: z.enum(CLIENTS).default('claude-code'),
    }),
  },
  responses: responsesOf(
    200,
    'The export',
    z.discriminatedUnion('format', [RegistryExportSchema, ClientExportSchema]).meta({
      id: 'Export',
    }),
    { example: exampleExport },
  ),
});

/** Adds the routes. */
export function registerTransfer(api: Api, { servers, imports }: ApiPorts): void {
  api.openapi(importServers, async context => {
    const { dry_run, on_conflict: onConflict } = context.req.valid('query');
    requireJson(context.req.header('content-type'));
    const dryRun = dry_run === 'true';
    const text = await context.req.text();
    const { caller } = context.var.snapshot;
    const entries = await imports.import(caller, text, { dryRun, onConflict });
    return context.json({ dry_run: dryRun, entries: entries.map(toView) }, 200);
  });
  api.openapi(exportServers, async context => {
    const { format, client } = context.req.valid('query');
    const all = await servers.listAll(context.var.snapshot.caller);
    if (format === 'client') {
      const config = toClientConfig(client, new URL(context.req.url).origin, undefined);
      return context.json({ format, client, ...config }, 200);
    }
    const { leftOut, ...rest } = toRegistryExport(all);
    return context.json({ format, ...rest, left_out: leftOut }, 200);
  });
}

/** @throws PorticoError `unsupported_media_type` */
function requireJson(type: string | undefined): void {
  if (/^application\/(json|jsonc)\s*(;|$)/i.test(type ?? '')) return;
  throw new PorticoError('unsupported_media_type');
}

function toView({ givenName, name, path, action, serverId, error, ...entry }: ImportedEntry) {
  const failure = error ? [`${error.code}: ${error.message}`] : [];
  return {
    given_name: givenName,
    name,
    path,
    action,
    ...(serverId === undefined ? {} : { server_id: serverId }),
    reasons: [...entry.reasons, ...failure],
    problems: entry.problems,
    secrets: action === 'failed' ? [] : entry.secrets.map(secret => secret.name),
  };
}
