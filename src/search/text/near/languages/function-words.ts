/**
 * Function words of German, French, Spanish and Portuguese that say nothing about what a tool does, in the form that `words.ts` gives them.
 */

const WORDS = `
der die das den dem des ein eine einen einem einer eines und oder in im ins an am auf aus von vom zu zum zur
mit fur bei nach uber unter ist sind war hat habe haben wird ich mir mich mein meine meinen meinem meiner
unser unsere unserem dieser diese dieses diesen diesem wie was wer wo wann welche welcher welches bitte nicht alle als es er sie
wir man dass auch noch bis
le la les un une des du de d l au aux et ou en dans sur sous pour par avec sans est sont a ai mon ma mes notre
nos ce cet cette ces que qui quoi quel quelle quels quelles comment je tu il elle on nous vous me moi se s t qu ne pas plus tous
toutes tout y
el los las una unos unas del al y o e con sin por para mi mis tu tus su sus nuestro nuestra este esta estos
estas ese esa que quien cual cuales como donde cuando es son ha he lo le les se me yo muy todo todos todas hay
os as um uma uns umas do da dos das no na nos nas em ao aos pelo pela com sem meu minha meus minhas seu sua
nosso nossa esse essa isso isto quem qual quais onde eu ele ela foi sao esta mais todos
`;

/** Lower case, without accents. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/));
