/** `portico client remove`: removes the server from the configuration of a host, and revokes the token that was made for it. */
import { EXIT, Failure } from '../failure.ts';
import { findTarget } from '../gateway-options.ts';
import { Api } from '../gateway/api.ts';
import type { ApiOptions } from '../gateway/api-command.ts';
import { note, writeJson, writeOut } from '../terminal.ts';
import { findMade, isAdmin, readOwnToken, revoke } from './client-token.ts';
import { changesOf, withoutServer } from './configured.ts';
import { writeConfiguration } from './files.ts';
import { openPlace, whole, type Place, type PlaceOptions } from './place.ts';
import { safeGatewayOf } from './safe-gateway.ts';

export interface RemoveOptions extends PlaceOptions, ApiOptions {
  dryRun?: boolean;
}

/** What happened to the token in the file. */
interface Ending {
  /** Name of the revoked token. */
  revoked: string | null;
  words: string;
}

export async function runRemove(id: string, options: RemoveOptions): Promise<void> {
  const place = await openPlace(id, options);
  const { host, name, file, text, found } = place;
  if (!found) throw new Failure(`${host.title} has no '${name}' in ${file}`, EXIT.notFound);
  const edited = whole(file, () => withoutServer(host.entry, text, name));
  const changes = changesOf(found, undefined);
  const { url: named } = findTarget(options, process.env);
  const told = { client: host.id, file, name };
  if (!options.json) await writeOut([file, ...changes].map(line => `${line}\n`).join(''));
  if (options.dryRun) {
    if (options.json) return writeJson({ ...told, outcome: 'planned', changes });
    return note('nothing is changed yet; run it without --dry-run');
  }
  const kept = await writeConfiguration(file, edited, place.isShared ? 'others' : 'owner');
  const { revoked, words } = await takeBack(place, named, options);
  if (options.json) {
    return writeJson({ ...told, outcome: 'removed', changes, revoked, backup: kept ?? null });
  }
  if (kept !== undefined) note(`the former file is kept as ${kept}`);
  note(`${host.title} no longer has '${name}'; ${words}`);
}

/**
 * Revokes the token if it was made for the host and the caller may do so. The file is already written, so a failure is reported, not
 * thrown.
 * @param named the only gateway that the caller's token may be sent to
 */
async function takeBack(place: Place, named: URL, options: RemoveOptions): Promise<Ending> {
  const left = (why: string): Ending => ({ revoked: null, words: why });
  const { url: text, token } = place.found ?? {};
  if (token === undefined || place.isShared) return left('it held no token');
  const url = safeGatewayOf(text);
  const advice = 'revoke it with portico token revoke';
  if (!url) return left(`its token was not checked; ${advice}`);
  if (named.origin !== url.origin) return left(`its token is for ${url.origin}; revoke it there`);
  try {
    const own = await readOwnToken(new Api(url, token));
    if (!own) return left('its token no longer works');
    const { token: given } = findTarget({ ...options, url: named.href }, process.env);
    const admin = new Api(url, given);
    const asker = given === undefined ? undefined : await readOwnToken(admin);
    if (!asker || !isAdmin(asker)) {
      return left('its token still works; an administrator can revoke it');
    }
    const made = await findMade(admin, place.host.id, own);
    if (!made) return left('its token was not created for it, and still works');
    await revoke(admin, made.id);
    return { revoked: made.name, words: `its token '${made.name}' is revoked` };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return left(`its token may still work (${error.message}); ${advice}`);
  }
}
