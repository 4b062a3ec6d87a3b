/**
 * A user's client of the gateway for the client side of the suite: SDK 1 for the legacy revisions, SDK 2 for the modern one; only the
 * needed SDK is loaded. It accepts every form with the defaults of its schema, like a user who presses Enter.
 */
type Arguments = Record<string, unknown>;

export interface User {
  /** Empty if the server has no tools. */
  listTools(): Promise<{ name: string; inputSchema: unknown }[]>;
  listResources(): Promise<{ uri: string }[]>;
  listPrompts(): Promise<{ name: string }[]>;
  /** Does not throw errors: the suite judges them. @returns the result as JSON, or the error as text */
  callTool(name: string, given: Arguments): Promise<string>;
  readResource(uri: string): Promise<void>;
  getPrompt(name: string): Promise<void>;
  close(): Promise<void>;
}

const MODERN_VERSION = '2026-07-28';
const identity = { name: 'conformance-user', version: '1.0.0' };
const CALL_TIMEOUT_MS = 12_000;

/** Fills in a form with its defaults; a checkbox without a default is ticked. */
function fillIn(params: object): Record<string, string | number | boolean> {
  const { requestedSchema } = params as { requestedSchema?: { properties?: Arguments } };
  const content: Record<string, string | number | boolean> = {};
  for (const [name, property] of Object.entries(requestedSchema?.properties ?? {})) {
    const { type, default: value } = property as { type?: string; default?: string | number };
    if (value !== undefined) content[name] = value;
    else if (type === 'boolean') content[name] = true;
  }
  return content;
}

const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

async function connectModern(url: URL, headers: Record<string, string>): Promise<User> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(identity, {
    capabilities,
    versionNegotiation: { mode: 'auto' },
  });
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: fillIn(params),
  }));
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const version = client.getNegotiatedProtocolVersion();
  if (version !== MODERN_VERSION) throw new Error(`The user was given ${String(version)}`);
  const options = { timeout: CALL_TIMEOUT_MS };
  return {
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources,
    listPrompts: async () => (await client.listPrompts()).prompts,
    callTool: (name, given) =>
      client.callTool({ name, arguments: given }, options).then(JSON.stringify, String),
    readResource: async uri => void (await client.readResource({ uri })),
    getPrompt: async name => void (await client.getPrompt({ name })),
    close: () => client.close(),
  };
}

async function connectLegacy(url: URL, headers: Record<string, string>): Promise<User> {
  const [{ Client }, { StreamableHTTPClientTransport }, { ElicitRequestSchema }] =
    await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
  const client = new Client(identity, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: 'accept',
    content: fillIn(params),
  }));
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const options = { timeout: CALL_TIMEOUT_MS };
  return {
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources,
    listPrompts: async () => (await client.listPrompts()).prompts,
    callTool: (name, given) =>
      client.callTool({ name, arguments: given }, undefined, options).then(JSON.stringify, String),
    readResource: async uri => void (await client.readResource({ uri })),
    getPrompt: async name => void (await client.getPrompt({ name })),
    close: () => client.close(),
  };
}

/** Connects to an endpoint in the era of a revision. A modern client throws if it is served another version. */
export function connectUser(endpoint: string, token: string, revision: string): Promise<User> {
  const headers = { authorization: `Bearer ${token}` };
  const connect = revision === MODERN_VERSION ? connectModern : connectLegacy;
  return connect(new URL(endpoint), headers);
}
