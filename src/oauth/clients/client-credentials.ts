/** Reads a client's credentials at `/token` and `/revoke` (RFC 6749 §2.3, RFC 7521 §4.2): one method and its values. Pure. */
import { STRICT } from '../../http/read-text.ts';
import { OAuthError } from '../oauth-error.ts';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const MAX_HEADER_CHARS = 4_096;

export type ClientCredentials =
  | { method: 'none'; clientId: string }
  | { method: 'client_secret_basic' | 'client_secret_post'; clientId: string; secret: string }
  /** The id, if it is sent beside the assertion. */
  | { method: 'private_key_jwt'; clientId: string | undefined; assertion: string };

const PARAMETERS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];

/**
 * @throws OAuthError `invalid_request` for a repeated parameter or two methods, `invalid_client` if there is no method or an invalid one
 */
export function readClientCredentials(headers: Headers, form: URLSearchParams): ClientCredentials {
  const [clientId, secret, assertion, type] = PARAMETERS.map(name => one(form, name));
  const basic = readBasic(headers.get('authorization'));
  const ways = [basic, secret, assertion ?? type].filter(way => way !== undefined);
  if (ways.length > 1) {
    throw new OAuthError('invalid_request', 'Use one way of client authentication');
  }
  if (basic) {
    if (clientId !== undefined && clientId !== basic.clientId) {
      throw new OAuthError('invalid_request', 'client_id differs from the one in the header');
    }
    return { method: 'client_secret_basic', ...basic };
  }
  if (assertion !== undefined || type !== undefined) {
    if (assertion === undefined || type !== ASSERTION_TYPE) {
      throw new OAuthError('invalid_client', 'client_assertion_type is not supported here');
    }
    return { method: 'private_key_jwt', clientId, assertion };
  }
  if (clientId === undefined) throw new OAuthError('invalid_client', 'client_id is missing');
  return secret === undefined
    ? { method: 'none', clientId }
    : { method: 'client_secret_post', clientId, secret };
}

/** An empty parameter counts as missing (RFC 6749 §3.2). */
function one(form: URLSearchParams, name: string): string | undefined {
  const values = form.getAll(name);
  if (values.length > 1) throw new OAuthError('invalid_request', `${name} is given twice`);
  return values[0] === '' ? undefined : values[0];
}

/** Returns undefined for other schemes: such a header does not authenticate the client. */
function readBasic(header: string | null): { clientId: string; secret: string } | undefined {
  if (header === null || !/^basic /i.test(header)) return undefined;
  const text = header.length > MAX_HEADER_CHARS ? undefined : decode(header.slice(6).trim());
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 1) {
    throw new OAuthError('invalid_client', 'The Authorization header is not valid');
  }
  const [clientId, secret] = [text.slice(0, colon), text.slice(colon + 1)].map(fromForm);
  if (clientId === undefined || secret === undefined || secret === '') {
    throw new OAuthError('invalid_client', 'The Authorization header is not valid');
  }
  return { clientId, secret };
}

function decode(base64: string): string | undefined {
  try {
    return STRICT.decode(Uint8Array.from(atob(base64), character => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/** Decodes form encoding (RFC 6749 §2.3.1). */
function fromForm(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
