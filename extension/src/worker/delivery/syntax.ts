import type { PluginFetchResult, PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Doc } from '../documents/docs.ts';

/**
 * Chrome parses plugin code in the isolated world SYNTAX_CHECK_WORLD, so that the page's error handlers see no syntax
 * errors.
 */
export const SYNTAX_CHECK_WORLD = 'syntax';

const MaxProblems = 200;

/** SyntaxCheckedCode is a plugin's adapter and optional pre-script. */
export type SyntaxCheckedCode = Pick<PluginFetchResult, 'code' | 'preScript'>;

/**
 * SyntaxChecker finds plugin code that Chrome cannot parse. The server also parses the code, but the server's parser
 * accepts some scripts that V8 rejects. For a script that does not parse, Chrome only logs an error to the page's
 * console.
 */
export interface SyntaxChecker {
  /**
   * The method `problem` parses a plugin's code in the given document without running the code, and returns the syntax
   * error.
   */
  problem(doc: Doc, plugin: PluginInfo, code: SyntaxCheckedCode): Promise<string | undefined>;
  /** findLastProblem returns the last stored syntax error of the plugin's current script. */
  findLastProblem(plugin: PluginInfo): string | undefined;
}

/**
 * The function runScripts must run scripts in order in the isolated world SYNTAX_CHECK_WORLD, and resolve with the last
 * script's result.
 */
export function makeSyntaxChecker(
  runScripts: (doc: Doc, scripts: readonly [string, ...string[]]) => Promise<unknown>,
): SyntaxChecker {
  const problemByCode = new Map<string, string>();
  const parseCode = async (doc: Doc, codeKind: string, code: string): Promise<string | undefined> => {
    // Parentheses turn a plugin's code into a function expression, which Chrome parses but does not call. Subtract 1
    // from Chrome's line number, because the first line of a plugin's code is the server's wrapper.
    const error = await findSyntaxError((scripts) => runScripts(doc, scripts), `(${code}\n)`);
    if (!error) return undefined;
    return `the browser can't parse the ${codeKind}: ${error.message.replace(/^Uncaught /, '')} (line ${Math.max(1, error.line - 1)})`;
  };
  return {
    problem: async (doc, plugin, { code, preScript }) => {
      const syntaxProblem =
        (await parseCode(doc, 'adapter', code)) ??
        (preScript === undefined ? undefined : await parseCode(doc, 'pre-script', preScript));
      if (syntaxProblem === undefined) return undefined;
      const [oldest] = problemByCode.keys();
      if (problemByCode.size >= MaxProblems && oldest !== undefined) problemByCode.delete(oldest);
      problemByCode.set(plugin.script, syntaxProblem);
      return syntaxProblem;
    },
    findLastProblem: ({ script }) => problemByCode.get(script),
  };
}

export interface SyntaxProblem {
  readonly message: string;
  readonly line: number;
}

/**
 * findSyntaxError returns undefined if the script is valid or the document does not respond. The function runScripts
 * must run scripts in order in the isolated world SYNTAX_CHECK_WORLD, and resolve with the last script's result.
 */
export async function findSyntaxError(
  runScripts: (scripts: readonly [string, ...string[]]) => Promise<unknown>,
  script: string,
): Promise<SyntaxProblem | undefined> {
  return readError(await runScripts([START_LISTENING_SCRIPT, script, RETURN_ERROR_SCRIPT]).catch(() => undefined));
}

/**
 * START_LISTENING_SCRIPT is a script that stores the first error of the scripts that run after it. RETURN_ERROR_SCRIPT
 * is a script that evaluates to the stored error and removes the error listener.
 */
const START_LISTENING_SCRIPT = `
var opentabsParse = { error: null, heard(event) {
  event.preventDefault();
  opentabsParse.error ??= [event.message, event.lineno];
} };
addEventListener('error', opentabsParse.heard, true);`;
const RETURN_ERROR_SCRIPT = `
removeEventListener('error', opentabsParse.heard, true);
opentabsParse.error`;

function readError(value: unknown): SyntaxProblem | undefined {
  if (!Array.isArray(value)) return undefined;
  const [message, line]: unknown[] = value;
  return typeof message === 'string' && typeof line === 'number' ? { message, line } : undefined;
}
