/** Cloudflare's prices, and the cost of operations. Published prices of the paid plan beyond the included amounts, read 2026-11-24. */

/** Dollars per million. */
export const PRICES = {
  objectRequest: 0.15,
  objectRowWritten: 1,
  objectRowRead: 0.001,
  /** Per million gigabyte-seconds; an object is billed as 128 MB while it is awake. */
  objectDuration: 12.5,
  d1RowWritten: 1,
  d1RowRead: 0.001,
  kvRead: 0.5,
  kvWrite: 5,
};
const OBJECT_GB = 0.128;

/** Operations by kind; for objects the sum over all types. */
export interface Operations {
  objectRequests: number;
  objectRowsWritten: number;
  objectRowsRead: number;
  objectAwakeMs: number;
  d1Trips: number;
  d1RowsWritten: number;
  d1RowsRead: number;
  kvReads: number;
  kvWrites: number;
}

/** Sums the ledger's counters over the types of objects. */
export function toOperations(counts: Readonly<Record<string, number>>): Operations {
  const sum = (ending: string) =>
    Object.entries(counts).reduce(
      (total, [name, n]) => total + (name.endsWith(ending) && !name.startsWith('d1.') ? n : 0),
      0,
    );
  return {
    objectRequests: sum('.requests'),
    objectRowsWritten: sum('.rowsWritten'),
    objectRowsRead: sum('.rowsRead'),
    objectAwakeMs: sum('.awakeMs'),
    d1Trips: counts['d1.trips'] ?? 0,
    d1RowsWritten: counts['d1.rowsWritten'] ?? 0,
    d1RowsRead: counts['d1.rowsRead'] ?? 0,
    kvReads: counts['kv.reads'] ?? 0,
    kvWrites: counts['kv.writes'] ?? 0,
  };
}

/** Dollars for a million times these operations. */
export function dollarsPerMillion(done: Operations): number {
  return (
    done.objectRequests * PRICES.objectRequest +
    done.objectRowsWritten * PRICES.objectRowWritten +
    done.objectRowsRead * PRICES.objectRowRead +
    (done.objectAwakeMs / 1_000) * OBJECT_GB * PRICES.objectDuration +
    done.d1RowsWritten * PRICES.d1RowWritten +
    done.d1RowsRead * PRICES.d1RowRead +
    done.kvReads * PRICES.kvRead +
    done.kvWrites * PRICES.kvWrite
  );
}

/** Divides every number by the number of requests. */
export function perRequest(done: Operations, requests: number): Operations {
  const entries = Object.entries(done).map(([name, n]) => [name, n / requests]);
  return Object.fromEntries(entries) as Operations;
}
