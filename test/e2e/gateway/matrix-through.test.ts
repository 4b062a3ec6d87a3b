/**
 * The probes of calls and questions once more, each call made through `call_tool`: whatever passes when a tool is called by its name
 * passes this way too, in every cell.
 */
import './matrix/through-call-tool.ts';
import './matrix/calls.ts';
import './matrix/questions.ts';
