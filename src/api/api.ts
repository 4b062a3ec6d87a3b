/** The frame of the REST API: credentials, error responses and OpenAPI for every route. */
import { OpenAPIHono } from '@hono/zod-openapi';
import { bodyLimit } from 'hono/body-limit';
import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import { OWNER_HEADER, parseOwnerHeader } from '../shared/identity/record-owner.ts';
import type { Snapshot } from '../access/admission/snapshots.ts';
import { parseDeviceToken } from '../servers/connectors/connector-schema.ts';
import { fieldProblem } from '../shared/errors/field-problems.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { toProblemResponse } from '../shared/errors/to-problem.ts';
import { checkOrigin } from '../http/entry-checks.ts';
import { coversUrl } from '../shared/identity/principal.ts';
import { toEnding } from '../telemetry/operation.ts';
import { boundedJson } from './bounded-json.ts';
import { registerAccessRules } from './access-rules.ts';
import { EXPLAIN_PATH, registerAccessExplain } from './access-explain.ts';
import { PREVIEW_PATHS, registerAccessPreview } from './access-preview.ts';
import { registerApprovals } from './approvals.ts';
import { ASK_PATH, registerAsk } from './ask.ts';
import { registerAskAllowlist } from './ask-allowlist.ts';
import { registerAudit } from './audit.ts';
import { registerAuditCounts } from './audit-counts.ts';
import { registerAuditExport } from './audit-export.ts';
import { registerBudgets } from './budgets.ts';
import { registerChat } from './chat.ts';
import { registerCacheRules } from './cache-rules.ts';
import { registerConnectors, SELF_PATH } from './connectors.ts';
import { registerDocument } from './document.ts';
import { registerEvents } from './events.ts';
import type { Api, ApiEnv, ApiPorts } from './frame.ts';
import { countBytes } from './in-flight.ts';
import { registerAccounts } from './accounts.ts';
import { registerGrants } from './grants.ts';
import { registerHealth } from './health.ts';
import { registerInvitations } from './invitations.ts';
import { registerKeys } from './keys.ts';
import { registerLearning } from './learning.ts';
import { registerMetrics } from './metrics.ts';
import { registerModel } from './model.ts';
import { registerOAuthClients } from './oauth-clients.ts';
import { registerOwners } from './owners.ts';
import { registerPasskeys } from './passkeys.ts';
import { registerPrincipals } from './principals.ts';
import { credentialOf, deferOf } from './request-context.ts';
import { registerSearch, SEARCH_PATH } from './search.ts';
import { registerSecrets } from './secrets.ts';
import { registerServers } from './servers.ts';
import { registerSignInProviders } from './sign-in-providers.ts';
import { registerSignIns } from './sign-ins.ts';
import { registerSkills } from './skills.ts';
import { registerSkillSuggestions } from './skill-suggestions.ts';
import { registerTokens } from './tokens.ts';
import { registerToolSkills } from './tool-skills.ts';
import { registerToolFormats } from './tool-formats.ts';
import { registerToolCall } from './tool-call.ts';
import { registerTools } from './tools.ts';
import { registerToolsets } from './toolsets.ts';
import { registerTransfer } from './transfer.ts';
import { registerUsage } from './usage.ts';
import { registerWebhooks } from './webhooks.ts';

/** Paths whose POST changes nothing. */
const READING: ReadonlySet<string> = new Set([
  SEARCH_PATH,
  ASK_PATH,
  EXPLAIN_PATH,
  ...Object.values(PREVIEW_PATHS),
]);
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Builds the API. */
export function createApi(ports: ApiPorts): Api {
  const api: Api = new OpenAPIHono<ApiEnv>({
    defaultHook: result => {
      if (result.success) return undefined;
      const fields = result.error.issues.map(({ path, message }) => ({
        field: path.join('.') || (result.target === 'json' ? '(body)' : `(${result.target})`),
        message,
      }));
      const first = fields[0];
      throw new PorticoError('validation_failed', `${first?.field}: ${first?.message}`, { fields });
    },
  });
  api.onError(async (error, context) => {
    const thrown = await explain(fromFramework(error), ports);
    context.env.operation?.ends(toEnding(thrown.code));
    // Administrative changes record their own denials.
    const { method, path } = context.req;
    if (thrown.code !== 'forbidden' || (!READS.has(method) && !READING.has(path))) {
      return toProblemResponse(thrown);
    }
    return toProblemResponse(await noteDenial(ports, context, path, thrown));
  });
  api.notFound(() => toProblemResponse(new PorticoError('not_found', 'No such route')));
  api.use(async (context, next) => {
    await next();
    const route = matchedRoutes(context).at(-1)?.path;
    if (route !== undefined) context.env.operation?.is({ route });
    // The framework answers HEAD without the body, which nobody would read or close.
    if (context.req.method === 'HEAD') await context.res.body?.cancel();
  });
  api.use(async (context, next) => {
    const { req, executionCtx } = context;
    const url = new URL(req.url);
    checkOrigin(url, req.header('origin') ?? null, ports.config);
    if (req.path === SELF_PATH) {
      const device = parseDeviceToken(req.header('authorization'));
      const connector = await ports.connectors.authenticate(device);
      if (!connector) throw new PorticoError('unauthorized');
      context.set('connector', connector);
      return next();
    }
    const token = credentialOf(req.raw);
    const snapshot =
      token === undefined
        ? undefined
        : await ports.snapshots.load(token, undefined, work => executionCtx.waitUntil(work));
    if (!snapshot || !coversUrl(snapshot.caller.audience, url)) {
      throw new PorticoError('unauthorized');
    }
    const { principalId, tokenId } = snapshot.caller;
    context.env.operation?.is({ principalId, ...(tokenId ? { tokenId } : {}) });
    context.set('snapshot', forOwner(req.header(OWNER_HEADER), snapshot));
    return next();
  });
  api.use(countBytes(ports, ports.config.maxBodyBytes));
  // Reads a body without a length whole, so only after its sender is known and there is room for it.
  api.use(
    bodyLimit({
      maxSize: ports.config.maxBodyBytes,
      onError: () => toProblemResponse(new PorticoError('payload_too_large')),
    }),
  );
  api.use(boundedJson(ports.config));
  registerServers(api, ports);
  registerConnectors(api, ports);
  registerTransfer(api, ports);
  registerHealth(api, ports);
  registerPrincipals(api, ports);
  registerTokens(api, ports);
  registerInvitations(api, ports);
  registerSignIns(api, ports);
  registerPasskeys(api, ports);
  registerGrants(api, ports);
  registerAccounts(api, ports);
  registerOAuthClients(api, ports);
  registerSignInProviders(api, ports);
  registerAccessRules(api, ports);
  registerToolsets(api, ports);
  registerBudgets(api, ports);
  registerCacheRules(api, ports);
  registerSecrets(api, ports);
  registerOwners(api, ports);
  registerEvents(api, ports);
  registerKeys(api, ports);
  registerWebhooks(api, ports);
  registerAccessExplain(api, ports);
  registerAccessPreview(api, ports);
  registerTools(api, ports);
  registerToolCall(api, ports);
  registerToolFormats(api, ports);
  registerSkillSuggestions(api, ports);
  registerSkills(api, ports);
  registerToolSkills(api, ports);
  registerSearch(api, ports);
  registerLearning(api, ports);
  registerMetrics(api, ports);
  registerModel(api, ports);
  registerAsk(api, ports);
  registerAskAllowlist(api, ports);
  registerChat(api, ports);
  registerApprovals(api, ports);
  registerAudit(api, ports);
  registerAuditCounts(api, ports);
  registerAuditExport(api, ports);
  registerUsage(api, ports);
  registerDocument(api);
  return api;
}

/** Returns the snapshot, with the owner from the `Portico-Owner` header if there is one. @throws PorticoError `validation_failed` */
function forOwner(header: string | undefined, snapshot: Snapshot): Snapshot {
  if (header === undefined) return snapshot;
  const owner = parseOwnerHeader(header);
  if (!owner) throw fieldProblem('(header)', 'Portico-Owner is written OWNER/KEY');
  return { ...snapshot, caller: { ...snapshot.caller, owner } };
}

/** Records that a read was refused. @returns the refusal, or the error if it could not be recorded */
async function noteDenial(
  { gateway }: ApiPorts,
  context: Context<ApiEnv>,
  subject: string,
  thrown: PorticoError,
): Promise<PorticoError> {
  try {
    const { caller } = context.var.snapshot;
    const refusal = { method: 'rest.read', subject, thrown, source: 'rest' } as const;
    await gateway.refused(caller, refusal, deferOf(context));
    return thrown;
  } catch (other) {
    return toPorticoError(other);
  }
}

/** An unexpected error may come from a database that lacks a migration; then the returned error says so. */
async function explain(
  thrown: PorticoError,
  { missingMigration }: ApiPorts,
): Promise<PorticoError> {
  const missing = thrown.code === 'internal' ? await missingMigration.result() : undefined;
  if (missing === undefined) return thrown;
  return new PorticoError('migrations_pending', `The database lacks the migration ${missing}`);
}

/** Maps the framework's own errors, which have a status: 400 for a body that is not JSON, 415 for another content type. */
function fromFramework(error: Error): PorticoError {
  const { status } = error as { status?: unknown };
  if (status === 400) return new PorticoError('parse_error');
  if (status === 415) return new PorticoError('unsupported_media_type');
  return toPorticoError(error);
}
