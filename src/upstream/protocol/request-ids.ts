/**
 * Ids of requests to upstreams: fresh for every request, so equal ids of two clients never meet.
 * Integers, because some servers take nothing else; the start is random, so that two isolates
 * which share an upstream session do not meet either.
 */
let next: number | undefined;

/** A new id. */
export function nextRequestId(): number {
  next ??= Math.floor(Math.random() * 2 ** 40);
  next += 1;
  return next;
}
