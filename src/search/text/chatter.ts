/**
 * Measures how much of a text is talk: what people say around what they want. The word list is our own: greetings, thanks, time, feelings,
 * speakers. Pure.
 */
import { STOP_WORDS } from './stop-words.ts';
import { toWords } from './words.ts';

const TALK = `able advance afternoon afterwards ago ahead already always anybody anyone anything anyway apologies appreciate appreciated ask asked asking awesome background
bad bear behind best better big bit boss busy care chance clear coffee colleague colleagues come comes coming confused couple course cool cheers dear decided day days done easy else
enough evening everybody everyone everything exactly explain far fast feel feeling felt fine finished finally first forever forward free friend friends frankly give gave glad go
goes going gone good great guess guys hand hands happy hard hear heard help helpful here hey honest honestly hope hopefully hour hours hurry idea imagine important
keep kind kids know knows last late lately later least left like likely little long look looking lot lots love made make makes manager matter maybe mean mentioned mess
message mind minute minutes moment month months morning mood nice night nobody nothing obviously odd office often okay ok old one ones perfect perhaps person plan possible pretty
probably problem quick quickly quite rather ready real really reason right said say says second seem seems sense side since simple somebody someone something soon
sorry sort sound sounds spent stuff stuck suppose sure take takes talk team tell thing things think thinking thought time tired today told tomorrow tonight totally tried try
trying unclear understand urgent usually vacation wait way week weekend weeks weird well whatever whenever wish wonder wondering words work working worked worry write yeah year
years yes yesterday yet`;

const TALK_WORDS: ReadonlySet<string> = new Set(TALK.split(/\s+/));

/** Returns 0 where at least half of the words carry meaning, 1 where none does. */
export function toChattiness(text: string): number {
  const words = toWords(text, text.length);
  const saying = words.filter(({ whole }) => !STOP_WORDS.has(whole) && !TALK_WORDS.has(whole));
  return Math.max(0, 1 - (2 * saying.length) / Math.max(words.length, 1));
}
