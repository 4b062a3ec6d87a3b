/** Tells the clients' objects of news, many at a time. */
import type { ClientSession } from './client-session-object.ts';
import type { News } from './news.ts';

/** Objects that are told at the same time. */
const AT_ONCE = 50;

/** @returns the names of those that want to hear no more */
export async function tellOwners(
  objects: DurableObjectNamespace<ClientSession>,
  owners: readonly string[],
  news: News,
): Promise<string[]> {
  const done: string[] = [];
  for (let i = 0; i < owners.length; i += AT_ONCE) {
    await Promise.all(
      owners.slice(i, i + AT_ONCE).map(async owner => {
        const object = objects.get(objects.idFromName(owner));
        // An object that fails now must not keep the others from hearing.
        const wants = await object.announce(owner, news).catch(() => true);
        if (!wants) done.push(owner);
      }),
    );
  }
  return done;
}
