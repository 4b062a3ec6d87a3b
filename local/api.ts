/**
 * The few REST calls that the start makes as the admin: it registers servers as any user would, and knows nothing else of the gateway.
 * Loopback only. A response without success becomes an error with the gateway's own message.
 */

export interface ServerRecord {
  id: string;
  name: string;
  status: string;
  tool_count: number;
  last_error: string | null;
}

export interface NewServer {
  name: string;
  description?: string;
  transport_type: 'HTTP' | 'SSE';
  connection_config: { url: string; headers?: Record<string, string>; auth?: object };
  accounts?: 'shared' | 'per_principal' | 'both';
}

interface ServerPage {
  servers: ServerRecord[];
  next_cursor?: string;
}

export interface Api {
  listServers(): Promise<ServerRecord[]>;
  createServer(server: NewServer): Promise<ServerRecord>;
  getServer(id: string): Promise<ServerRecord>;
  deleteServer(id: string): Promise<void>;
  /** Whether the gateway accepts a token; false only on a 401. */
  isTokenKnown(token: string): Promise<boolean>;
  /** @returns the principal's id */
  createPrincipal(principal: { name: string; scopes: string[] }): Promise<string>;
  /** @returns the code of the invitation */
  invite(invitation: { principal: string; valid_seconds: number }): Promise<string>;
  /** @returns the token's value */
  createToken(token: { name: string; scopes: string[] }): Promise<string>;
  /** Waits until a server has one of the states, at most `timeoutMs`. Returns the last record read. */
  waitForServer(id: string, states: readonly string[], timeoutMs: number): Promise<ServerRecord>;
}

const SERVERS = '/api/v1/aggregator/servers';
const TIMEOUT_MS = 10_000;
const POLL_MS = 50;

/** Creates the API client of the gateway at an origin. */
export function createApi(origin: string, adminToken: string): Api {
  const call = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${toReason(text)}`);
    return text;
  };
  const create = async (records: string, wanted: object, member: string): Promise<string> => {
    const made: Record<string, string> = JSON.parse(
      await call('POST', `/api/v1/${records}`, wanted),
    );
    return made[member] ?? '';
  };
  const getServer = async (id: string): Promise<ServerRecord> =>
    JSON.parse(await call('GET', `${SERVERS}/${id}`)) as ServerRecord;
  return {
    async listServers() {
      const servers: ServerRecord[] = [];
      let query = '?limit=500';
      for (;;) {
        const page = JSON.parse(await call('GET', `${SERVERS}${query}`)) as ServerPage;
        servers.push(...page.servers);
        if (page.next_cursor === undefined) return servers;
        query = `?limit=500&cursor=${page.next_cursor}`;
      }
    },
    getServer,
    createServer: async server => JSON.parse(await call('POST', SERVERS, server)) as ServerRecord,
    deleteServer: async id => void (await call('DELETE', `${SERVERS}/${id}`)),
    isTokenKnown: token =>
      fetch(`${origin}/api/v1/tools?server=-`, {
        headers: { Authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).then(
        ({ status }) => status !== 401,
        () => true,
      ),
    createPrincipal: wanted => create('principals', wanted, 'id'),
    invite: wanted => create('invitations', wanted, 'code'),
    createToken: wanted => create('tokens', wanted, 'token'),
    async waitForServer(id, states, timeoutMs) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const server = await getServer(id);
        if (states.includes(server.status) || Date.now() > deadline) return server;
        await new Promise(resolve => setTimeout(resolve, POLL_MS));
      }
    },
  };
}

/** Returns the reason in an `application/problem+json` response, in one line. */
function toReason(text: string): string {
  try {
    const problem = JSON.parse(text) as { detail?: unknown; title?: unknown };
    return String(problem.detail ?? problem.title ?? text);
  } catch {
    return text.slice(0, 200);
  }
}
