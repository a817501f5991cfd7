import type { PluginFetchResult, PluginInfo } from '../../../../wire/wire.gen.ts';
import type { Doc } from '../documents/docs.ts';

/** SYNTAX_WORLD is the isolated world in which code is parsed, so that the page sees no errors. */
export const SYNTAX_WORLD = 'syntax';

/** MaxProblems limits the stored problems. */
const MaxProblems = 200;

/** Code is the code of a plugin that runs in a page. */
export type Code = Pick<PluginFetchResult, 'code' | 'preScript'>;

/**
 * Syntax finds code that Chrome cannot parse. The server parses all code before it sends the code, but the server's
 * parser accepts some scripts that V8 rejects. Chrome reports such an error to the console only.
 */
export interface Syntax {
  /**
   * problem parses the code of a plugin in a document, without running the code. The result is the reason why the code
   * cannot be parsed, or undefined if the code can be parsed or the document does not answer.
   */
  problem(doc: Doc, plugin: PluginInfo, code: Code): Promise<string | undefined>;
  /** known returns the last result of problem for this plugin. */
  known(plugin: PluginInfo): string | undefined;
}

/**
 * makeSyntax returns a Syntax. run runs scripts in order in the world SYNTAX_WORLD of a document, and returns the value
 * of the last script.
 */
export function makeSyntax(run: (doc: Doc, scripts: readonly [string, ...string[]]) => Promise<unknown>): Syntax {
  const problems = new Map<string, string>();
  const parse = async (doc: Doc, codeKind: string, code: string): Promise<string | undefined> => {
    // In parentheses, the code is a function expression that is parsed but not called. The first line of the code
    // belongs to the wrapper (internal/jsbuild:AdapterFunction).
    const error = readError(await run(doc, [START_LISTENING, `(${code}\n)`, RETURN_ERROR]).catch(() => undefined));
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
    known: ({ script }) => problems.get(script),
  };
}

/**
 * START_LISTENING stores the first error of the scripts that follow. RETURN_ERROR ends the listening and returns the
 * stored error.
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

function readError(value: unknown): { readonly message: string; readonly line: number } | undefined {
  if (!Array.isArray(value)) return undefined;
  const [message, line]: unknown[] = value;
  return typeof message === 'string' && typeof line === 'number' ? { message, line } : undefined;
}
