/**
 * Lets whatever came over the network meanwhile be served. Work that only waits for the database and for objects of the same process
 * never leaves workerd's event loop idle on a local host, and the loop looks for requests only then; a timer makes it idle.
 */
export const yieldToRequests = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0));
