/**
 * Lets requests be served that arrived over the network meanwhile. Work that only waits for the database and for objects of the same
 * process never leaves workerd's event loop idle on a local host, and the loop reads requests only when it is idle; a timer makes it so.
 */
export const yieldToRequests = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0));
