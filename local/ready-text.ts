/**
 * The terminal text when everything runs: the address, the tokens (only at the start that created them), and the snippets for clients, with
 * a member token. Pure text.
 */
import { TOKEN_VARIABLE } from '../src/servers/transfer/client-config.ts';
import type { Secrets } from './secrets.ts';
import { createSnippets } from './snippets.ts';
import type { Steps } from './steps.ts';

interface Ready {
  origin: string;
  secrets: Pick<Secrets, 'adminToken' | 'isTokenUnseen' | 'file'>;
  /** The token for clients; undefined if there is none. */
  memberToken: string | undefined;
  /** Signs the administrator in to the console; undefined if the output is not a terminal. */
  signInLink: string | undefined;
  /** The data folder, as the user would type it. */
  dataDir: string;
  steps: Pick<Steps, 'style'>;
}

/** Returns the closing text of a start. */
export function toReadyText(ready: Ready): string {
  const { origin, secrets, dataDir, signInLink } = ready;
  const { style } = ready.steps;
  const token = secrets.isTokenUnseen ? ready.memberToken : undefined;
  const tokenLines = secrets.isTokenUnseen ? toFirstLines(ready) : toLaterLines(ready);
  const snippets = createSnippets(origin, token).flatMap(({ title, text }) => [
    '',
    style('bold', title),
    indent(text),
  ]);
  return [
    '',
    `${style('bold', 'Portico is ready')}  ${style('cyan', `${origin}/mcp`)}`,
    `Its console       ${style('cyan', signInLink ?? `${origin}/console`)}`,
    ...(signInLink === undefined
      ? []
      : [style('dim', '                  The address signs you in once, within an hour.')]),
    '',
    ...tokenLines,
    ...snippets,
    '',
    style('dim', `Log: ${dataDir}/log. Ctrl-C stops everything; the data stays.`),
  ].join('\n');
}

/** Shows the tokens, at the start that created them. */
function toFirstLines({ secrets, memberToken, dataDir, steps: { style } }: Ready): string[] {
  const admin = [
    `Admin token, for the API and the command line; shown only this once, kept in ${dataDir}/secrets.json:`,
    `  ${style('cyan', secrets.adminToken)}`,
  ];
  if (memberToken === undefined) return admin;
  return [
    ...admin,
    'Member token, for clients: it can only list and call tools; kept there too:',
    `  ${style('cyan', memberToken)}`,
  ];
}

/** Names the place of the tokens. The commands use the token for clients, never the admin's. */
function toLaterLines({ secrets, memberToken, dataDir }: Ready): string[] {
  if (memberToken === undefined) {
    return [
      `The admin token is in ${dataDir}/secrets.json. The one for clients was revoked; create another`,
      'with POST /api/v1/tokens or portico token create. For the commands below:',
      `  export ${TOKEN_VARIABLE}=…`,
    ];
  }
  const file = JSON.stringify(secrets.file);
  return [
    `The tokens are in ${dataDir}/secrets.json: adminToken for the API and the command line,`,
    'memberToken for clients. For the commands below:',
    `  export ${TOKEN_VARIABLE}=$(node -p 'JSON.parse(fs.readFileSync(${file})).memberToken')`,
  ];
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
