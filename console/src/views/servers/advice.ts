/** Explains a server's problem in plain words, with advice, by the code at the start of its last error. Pure. */

import type { Server } from '../../generated/types.gen.ts';

export interface Advice {
  /** What is wrong. */
  says: string;
  /** What to do. */
  todo: string;
}

const ADDRESS = 'Check the address: the server may speak at another path, often /mcp or /sse.';
const OWNER = 'Ask who runs the server. The gateway tries again by itself.';

const BY_CODE: Readonly<Record<string, Advice>> = {
  upstream_unreachable: {
    says: 'The server cannot be reached, or it hangs up at once.',
    todo: 'Check that it runs, and that the host and the port of its address are right.',
  },
  upstream_timeout: {
    says: 'The server does not answer in time.',
    todo: 'Check that it runs and is not overloaded. The gateway tries again by itself.',
  },
  upstream_auth: {
    says: 'The server wants a valid credential.',
    todo: 'Edit the server and give it a token or a header. If each user has an account there, set its accounts to those of each user.',
  },
  upstream_scope: {
    says: 'The server accepts the credential, but forbids the request.',
    todo: 'Give it a credential that may do more.',
  },
  account_required: {
    says: 'The server wants an account of each user.',
    todo: 'Connect yours under Accounts.',
  },
  credential_unavailable: {
    says: 'The credential that is stored for the server cannot be used.',
    todo: 'Edit the server and give the credential again, or the secret that it refers to.',
  },
  upstream_4xx: { says: 'The server refuses the request.', todo: ADDRESS },
  upstream_redirect: {
    says: 'The server sends to another address, which is never followed.',
    todo: 'Edit the server and give the address that it sends to, if you trust it.',
  },
  upstream_bad_content_type: {
    says: 'What is at this address does not speak MCP: it looks like a web page.',
    todo: ADDRESS,
  },
  upstream_bad_json: {
    says: 'What is at this address does not answer with valid JSON.',
    todo: ADDRESS,
  },
  upstream_bad_message: { says: 'What is at this address does not speak MCP.', todo: ADDRESS },
  upstream_refused_address: {
    says: 'The gateway is not allowed to go to this address.',
    todo: 'Use an address on the public network, or let the deployment allow this one (see the operations guide).',
  },
  upstream_rate_limited: {
    says: 'The server refuses requests because of its rate limit.',
    todo: 'Wait, or check it less often. The gateway tries again by itself.',
  },
  upstream_5xx: { says: 'The server fails.', todo: OWNER },
  upstream_truncated: { says: 'Answers of the server are cut off.', todo: OWNER },
  upstream_no_response: { says: 'The server ends its answers without a response.', todo: OWNER },
  upstream_session: { says: 'The server does not keep its session.', todo: OWNER },
  upstream_too_large: {
    says: 'An answer of the server is larger than allowed.',
    todo: 'Ask who runs it for smaller pages of its lists.',
  },
  server_disconnected: {
    says: 'The server is not there: where it is a program, its machine is off or its connector is not running.',
    todo: 'Start the connector on its machine, or connect the server.',
  },
  circuit_open: {
    says: 'The server failed too often, so no calls are sent to it for a while.',
    todo: 'It is tried again by itself.',
  },
};

const OTHER: Advice = {
  says: 'The server could not be used.',
  todo: 'What the gateway found is below. It tries again by itself.',
};

const OWN_ACCOUNT: Advice = {
  says: 'The server wants an account of each user, and nobody has connected one that it takes.',
  todo: 'Connect yours under Accounts.',
};
/** A program has no address that could be wrong. */
const PROGRAM: Advice = {
  says: 'The program cannot be reached: its machine is not connected, or it has ended there.',
  todo: 'Run portico connect on its machine, and read what that prints.',
};
const SOME_FAIL: Advice = {
  says: 'Some calls to the server fail.',
  todo: 'Look at its health. It is connected fully again by itself when calls go well.',
};

/** Advice for a server; undefined where nothing is wrong. Its last error has the form `code: text`. */
export function adviceFor(
  server: Pick<Server, 'status' | 'accounts' | 'last_error' | 'transport_type'>,
): Advice | undefined {
  const { status, accounts, last_error: why, transport_type: transport } = server;
  if (why === null) return status === 'DEGRADED' ? SOME_FAIL : undefined;
  const [code = ''] = why.split(':', 1);
  if (code === 'upstream_auth' && accounts === 'per_principal') return OWN_ACCOUNT;
  if (code === 'upstream_unreachable' && transport === 'STDIO') return PROGRAM;
  return BY_CODE[code] ?? OTHER;
}
