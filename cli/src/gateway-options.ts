/**
 * Which gateway a command uses, and with which token: from options, else from the environment, else from the stored login for that gateway.
 * A token is only ever sent over https or to this machine.
 */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { EXIT, Failure } from './failure.ts';
import type { Environment } from './folders.ts';
import { hasLogin, listLogins, toLoginFolder } from './login/login-store.ts';
import { storedToken } from './login/stored-token.ts';
import { namedToken, type TokenSource } from './login/token-source.ts';

const DEFAULT_URL = 'http://127.0.0.1:8787';
/** The MCP endpoints; a URL with any other path is refused. */
const MCP_PATH = /^\/mcp(\/(servers|toolsets)\/[^/]+)?\/?$/;
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;
/** Characters allowed in a token: those that fit in a header, without white space. */
const TOKEN = /^[\x21-\x7e]+$/;
const MAX_TOKEN_CHARS = 4_096;

/** Options of a command before they are checked. */
export interface GatewayOptions {
  url?: string | undefined;
  token?: string | undefined;
  tokenFile?: string | undefined;
}

/** A gateway and the token for it. */
export interface Target {
  /** As given: an origin, or an MCP endpoint. */
  url: URL;
  token: TokenSource;
}

/** @throws Failure where the gateway or the token is invalid, or there is neither a token nor a login */
export function readTarget(options: GatewayOptions, env: Environment = process.env): Target {
  const { url, token } = findTarget(options, env);
  if (token) return { url, token };
  throw new Failure(
    `a token is needed; run portico login ${url.origin}, set PORTICO_TOKEN or use --token-file`,
    EXIT.usage,
  );
}

/**
 * The same, but the token may be missing. With neither a gateway nor a token given, the only gateway with a login is used, so a login never
 * changes where a given token is sent.
 * @throws Failure where the gateway or the token is invalid
 */
export function findTarget(
  options: GatewayOptions,
  env: Environment,
): { url: URL; token: TokenSource | undefined } {
  const named = readToken(options, env);
  if (named !== undefined) return { url: readGatewayUrl(options, env), token: namedToken(named) };
  const url = readLoginUrl(options, env);
  const folder = toLoginFolder(env);
  const token = hasLogin(folder, url.origin) ? storedToken(folder, url.origin) : undefined;
  return { url, token };
}

/** URL of the given gateway, else of the only one with a login. @throws as `readGatewayUrl` */
export function readLoginUrl({ url }: GatewayOptions, env: Environment): URL {
  const isNamed = url !== undefined || Boolean(env['PORTICO_URL']);
  const [only, ...others] = isNamed ? [] : listLogins(toLoginFolder(env));
  return readGatewayUrl({ url: url ?? (others.length > 0 ? undefined : only) }, env);
}

/** Adds `--url`, `--token` and `--token-file` to a command. */
export function addGatewayOptions(command: Command): Command {
  return command
    .option('--url <url>', `URL of the gateway, or PORTICO_URL (default ${DEFAULT_URL})`)
    .option('--token-file <file>', 'file with the token; without a token, see portico login')
    .option(
      '--token <token>',
      'the token; prefer PORTICO_TOKEN or a file, since others can read arguments',
    );
}

/**
 * URL of the gateway.
 * @throws Failure where it is not an http(s) URL, has another path, or would carry a token unencrypted
 */
export function readGatewayUrl({ url }: GatewayOptions, env: Environment): URL {
  const text = url ?? (env['PORTICO_URL'] || DEFAULT_URL);
  const parsed = URL.parse(text);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new Failure(`'${text}' is not a gateway URL; write it like ${DEFAULT_URL}`, EXIT.usage);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new Failure('the URL contains a credential; put the token in PORTICO_TOKEN', EXIT.usage);
  }
  if (parsed.protocol === 'http:' && !LOOPBACK.test(parsed.hostname)) {
    throw new Failure(
      `refusing to send a token to ${parsed.host} unencrypted; use https`,
      EXIT.usage,
    );
  }
  if (parsed.pathname !== '/' && !MCP_PATH.test(parsed.pathname)) {
    const paths = '/mcp, /mcp/servers/{server} or /mcp/toolsets/{toolset}';
    throw new Failure(`${parsed.pathname} is not a gateway endpoint; use ${paths}`, EXIT.usage);
  }
  parsed.hash = '';
  return parsed;
}

/** The MCP endpoint of a gateway: its URL, or `/mcp` of a bare origin. */
export function toMcpUrl(url: URL): URL {
  const endpoint = new URL(url);
  if (endpoint.pathname === '/') endpoint.pathname = '/mcp';
  return endpoint;
}

/** The same with all tools listed, whatever the endpoint's default is. */
export function toFullListUrl(url: URL): URL {
  const endpoint = toMcpUrl(url);
  if (!endpoint.searchParams.has('tools')) endpoint.searchParams.set('tools', 'all');
  return endpoint;
}

/**
 * Returns the token, or undefined where none is given.
 * @throws Failure where the file cannot be read or the text is not a token
 */
export function readToken(options: GatewayOptions, env: Environment): string | undefined {
  const { token, tokenFile } = options;
  const given =
    token ?? (tokenFile === undefined ? env['PORTICO_TOKEN'] : readTokenFile(tokenFile));
  const text = given?.trim();
  if (text === undefined || text === '') return undefined;
  if (text.length > MAX_TOKEN_CHARS || !TOKEN.test(text)) {
    throw new Failure('the token is too long or contains invalid characters', EXIT.usage);
  }
  return text;
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(
      `the token file ${path} cannot be read (${code ?? 'unknown reason'})`,
      EXIT.usage,
    );
  }
}
