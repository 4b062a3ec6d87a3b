/** Parses times given on the command line. Pure. */
import { InvalidArgumentError } from 'commander';

/** Returns an option parser for seconds between two bounds. */
export function readSeconds(least: number, most: number): (text: string) => number {
  return text => {
    const seconds = text.trim() === '' ? NaN : Number(text);
    if (seconds >= least && seconds <= most) return seconds;
    throw new InvalidArgumentError(`It must be a number of seconds from ${least} to ${most}.`);
  };
}
