/**
 * English words that say nothing about what a tool does, in lower case and before stemming. Words that only phrase a request (`please`,
 * `want`) are included: requests are sentences, definitions seldom are.
 */

const WORDS = `a about above after again against all also am an and any are aren as at be because been before being below between both but by can cannot
could couldn d did didn do does doesn doing don down during each else etc ever every few for from further get gets got had hadn has hasn have haven having he her
here hers herself hey hi hello him himself his how i if in into is isn it its itself just let ll m may me might more most must my myself need needs no nor not now of
off on once only or other our ours ourselves out over own please re s same shall she should shouldn so some such t than thank thanks that the their theirs them
themselves then there these they this those through to too under until up upon us use used using ve very via want wants was wasn we were weren what when where
whether which while who whom why will with within without won would wouldn you your yours yourself yourselves`;

/** Stop words, lower case. */
export const STOP_WORDS: ReadonlySet<string> = new Set(WORDS.split(/\s+/));
