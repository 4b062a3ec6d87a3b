/**
 * The client that the suite runs: `client-driver.ts URL`, with the scenario in its environment. It registers the suite's server with a
 * running gateway and then uses the gateway as a user does, so every request that the suite sees comes from the gateway. It speaks the era
 * of the revision to the gateway. Without PORTICO_CONFORMANCE_ORIGIN the same user calls the suite's server directly: a failure there is
 * the user's fault and not the gateway's.
 */
import { randomUUID } from 'node:crypto';
import { createApi } from '../../local/api.ts';
import { callWithAccount } from './account.ts';
import { CLIENT_CREDENTIALS } from './requirements.ts';
import { DONE } from './suite.ts';
import { connectUser } from './user.ts';
import type { User } from './user.ts';

const CONNECT_TIMEOUT_MS = 6_000;

/** Scenarios whose user must see every tool that the gateway lists; a modern client would hide some. */
const LISTS_ALL = new Set(['http-invalid-tool-headers']);

interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
}

const readEnvironment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
};

/** Calls tools one after the other. The suite judges the results. */
async function callAll(user: User, calls: ToolCall[]): Promise<void> {
  for (const call of calls) await user.callTool(call.name, call.arguments);
}

const named =
  (...names: string[]) =>
  (user: User) =>
    callAll(
      user,
      names.map(name => ({ name, arguments: {} })),
    );

/** What the user does in each scenario, after the server is registered and its tools are listed. */
const scenarios: Record<string, (user: User) => Promise<void>> = {
  initialize: async () => {},
  'request-metadata': async () => {},
  'json-schema-ref-no-deref': async () => {},
  tools_call: user => callAll(user, [{ name: 'add_numbers', arguments: { a: 5, b: 3 } }]),
  'elicitation-sep1034-client-defaults': named('test_client_elicitation_defaults'),
  'sse-retry': named('test_reconnection'),
  'sep-2322-client-request-state': named(
    'test_mrtr_echo_state',
    'test_mrtr_no_state',
    'test_mrtr_unrelated',
    'test_mrtr_no_result_type',
  ),
  'http-standard-headers': async user => {
    const [tool] = await user.listTools();
    const [resource] = await user.listResources();
    const [prompt] = await user.listPrompts();
    if (!tool || !resource || !prompt) throw new Error('Something is not listed');
    await user.callTool(tool.name, {});
    await user.readResource(resource.uri);
    await user.getPrompt(prompt.name);
  },
  'http-custom-headers': user => {
    const context = JSON.parse(readEnvironment('MCP_CONFORMANCE_CONTEXT')) as {
      toolCalls: ToolCall[];
    };
    return callAll(user, context.toolCalls);
  },
  // Calls every tool that is still listed; the suite notices invalid tools that should have been removed.
  'http-invalid-tool-headers': async user => {
    const tools = await user.listTools();
    await callAll(
      user,
      tools.map(({ name }) => ({ name, arguments: { region: 'us-west1' } })),
    );
  },
  'json-schema-2020-12-preservation': async user => {
    const tools = await user.listTools();
    const focal = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await user.callTool('json_schema_echo', { schema: focal?.inputSchema });
  },
};

/** Scenarios that end with a refusal by the gateway: it does not connect an account, or stops asking for another sign-in. */
const REFUSED = new Set([
  'auth/resource-mismatch',
  'auth/scope-retry-limit',
  'auth/iss-supported-missing',
  'auth/iss-wrong-issuer',
  'auth/iss-unexpected',
  'auth/iss-normalized',
  'auth/metadata-issuer-mismatch',
]);

const context = (): Record<string, string> =>
  JSON.parse(readEnvironment('MCP_CONFORMANCE_CONTEXT')) as Record<string, string>;

/** The credentials that an administrator configures: the gateway's own, or user accounts, sometimes with a client registered in advance. */
async function accessOf(scenario: string, url: string): Promise<{ auth?: object; own?: true }> {
  if (!scenario.startsWith('auth/')) return {};
  if (scenario === CLIENT_CREDENTIALS) {
    const { client_id, client_secret } = context();
    return { auth: { type: 'client_credentials', client_id, client_secret } };
  }
  if (scenario !== 'auth/pre-registration') return { own: true };
  const { client_id, client_secret } = context();
  const issuer = await issuerOf(new URL(url));
  return { auth: { type: 'authorization_code', issuer, client_id, client_secret }, own: true };
}

/** Reads the issuer where the administrator registered the client; the suite does not pass it. */
async function issuerOf({ origin, pathname }: URL): Promise<string> {
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: issuers } = (await response.json()) as Record<string, string[]>;
  return issuers?.[0] ?? '';
}

/** Registers the suite's server with the gateway, uses it as the scenario requires, and unregisters it. */
async function throughGateway(origin: string, url: string, scenario: string, revision: string) {
  const adminToken = readEnvironment('PORTICO_CONFORMANCE_TOKEN');
  const api = createApi(origin, adminToken);
  const name = `suite-${randomUUID().slice(0, 8)}`;
  const { auth, own } = await accessOf(scenario, url);
  const server = await api.createServer({
    name,
    transport_type: 'HTTP',
    connection_config: { url, ...(auth && { auth }) },
    ...(own && { accounts: 'per_principal' }),
  });
  const era = LISTS_ALL.has(scenario) ? '2025-11-25' : revision;
  const endpoint = `${origin}/mcp/servers/${name}`;
  try {
    if (!own) {
      const { status, last_error: error } = await api.waitForServer(
        server.id,
        ['CONNECTED'],
        CONNECT_TIMEOUT_MS,
      );
      if (status !== 'CONNECTED')
        throw new Error(`The suite's server is ${status}: ${error ?? ''}`);
      return await use(endpoint, adminToken, era, scenario);
    }
    await api.waitForServer(server.id, ['CONNECTED', 'DEGRADED', 'ERROR'], CONNECT_TIMEOUT_MS);
    const token = await api.createToken({ name, scopes: ['tools:read', 'tools:call'] });
    const connect = () => connectUser(endpoint, token, era);
    const refusal = await callWithAccount({ origin, api, server, token, connect });
    const isRefused = refusal !== undefined;
    if (isRefused !== REFUSED.has(scenario)) throw new Error(refusal ?? 'Nothing was refused');
  } finally {
    await api.deleteServer(server.id);
  }
}

/** A user without an account of their own at the server. */
async function use(endpoint: string, token: string, era: string, scenario: string): Promise<void> {
  const user = await connectUser(endpoint, token, era);
  await user.listTools();
  await (scenarios[scenario] ?? named('test-tool'))(user);
  await user.close();
}

async function drive(url: string): Promise<void> {
  const scenario = readEnvironment('MCP_CONFORMANCE_SCENARIO');
  const revision = readEnvironment('MCP_CONFORMANCE_PROTOCOL_VERSION');
  const origin = process.env['PORTICO_CONFORMANCE_ORIGIN'];
  if (origin === undefined) return use(url, 'none', revision, scenario);
  return throughGateway(origin, url, scenario, revision);
}

try {
  await drive(process.argv.at(-1) ?? '');
  process.stdout.write(`${DONE}\n`, () => process.exit(0));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message}\n`, () => process.exit(1));
}
