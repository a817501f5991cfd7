import type { PluginFetchResult, PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Doc } from '../documents/docs.ts';

/** SYNTAX_WORLD is the isolated world in which code is parsed, so that the page sees no errors. */
export const SYNTAX_WORLD = 'syntax';

/** MaxProblems limits the stored results of syntax checks. */
const MaxProblems = 200;

/** Code is the code of a plugin that runs in a page. */
export type Code = Pick<PluginFetchResult, 'code' | 'preScript'>;

/**
 * Syntax finds code that Chrome cannot parse. The server parses all code before it sends the code, but the server's
 * parser accepts some scripts that V8 rejects. Chrome reports a syntax error in a script to the console only.
 */
export interface Syntax {
  /**
   * problem parses the code of a plugin in a document, without running the code. problem returns the reason why the
   * code cannot be parsed; undefined if the code can be parsed or the document does not answer.
   */
  problem(doc: Doc, plugin: PluginInfo, code: Code): Promise<string | undefined>;
  /** lastProblem returns the last result of the method problem for a plugin. */
  lastProblem(plugin: PluginInfo): string | undefined;
}

/**
 * makeSyntax returns a Syntax without stored results. run runs scripts in order in the world SYNTAX_WORLD of a
 * document, and returns the value of the last script.
 */
export function makeSyntax(run: (doc: Doc, scripts: readonly [string, ...string[]]) => Promise<unknown>): Syntax {
  const problems = new Map<string, string>();
  const parse = async (doc: Doc, codeKind: string, code: string): Promise<string | undefined> => {
    // In parentheses, a plugin's code is a function expression that is parsed but not called. The first line of a
    // plugin's code belongs to the server's wrapper of the code (internal/jsbuild:AdapterFunction).
    const error = await findSyntaxError((scripts) => run(doc, scripts), `(${code}\n)`);
    if (!error) return undefined;
    return `the browser can't parse the ${codeKind}: ${error.message.replace(/^Uncaught /, '')} (line ${Math.max(1, error.line - 1)})`;
  };
  return {
    problem: async (doc, plugin, { code, preScript }) => {
      const problem =
        (await parse(doc, 'adapter', code)) ??
        (preScript === undefined ? undefined : await parse(doc, 'pre-script', preScript));
      if (problem === undefined) return undefined;
      const [oldest] = problems.keys();
      if (problems.size >= MaxProblems && oldest !== undefined) problems.delete(oldest);
      problems.set(plugin.script, problem);
      return problem;
    },
    lastProblem: ({ script }) => problems.get(script),
  };
}

/** SyntaxProblem is the reason why Chrome cannot parse a script. */
export interface SyntaxProblem {
  readonly message: string;
  readonly line: number;
}

/**
 * findSyntaxError runs a script and returns its syntax error. The result is undefined if the script has no syntax
 * error, or the document does not answer. run runs scripts in order in the world SYNTAX_WORLD, and returns the
 * value of the last script.
 */
export async function findSyntaxError(
  run: (scripts: readonly [string, ...string[]]) => Promise<unknown>,
  script: string,
): Promise<SyntaxProblem | undefined> {
  return readError(await run([START_LISTENING, script, RETURN_ERROR]).catch(() => undefined));
}

/**
 * START_LISTENING is a script that stores the first error of the scripts that run after START_LISTENING. RETURN_ERROR
 * is a script that returns the error that START_LISTENING stored, and stops storing errors.
 */
const START_LISTENING = `
var opentabsParse = { error: null, heard(event) {
  event.preventDefault();
  opentabsParse.error ??= [event.message, event.lineno];
} };
addEventListener('error', opentabsParse.heard, true);`;
const RETURN_ERROR = `
removeEventListener('error', opentabsParse.heard, true);
opentabsParse.error`;

function readError(value: unknown): SyntaxProblem | undefined {
  if (!Array.isArray(value)) return undefined;
  const [message, line]: unknown[] = value;
  return typeof message === 'string' && typeof line === 'number' ? { message, line } : undefined;
}
