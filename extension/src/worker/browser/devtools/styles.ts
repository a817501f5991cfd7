import type { StyleValue } from '../../../page/devtools-operations.ts';
import type { Fields } from '../../../record.ts';
import { readTexts, requireText } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import { type Debuggers, DebuggerUnavailableError } from '../debugger/debuggers.ts';
import type { FrameTarget, TabFrames } from '../tab-frames.ts';
import type { CssCoverage } from './css-coverage.ts';
import { toArrayOrEmpty, toFields } from './debugged-frames.ts';
import { findSharedNode } from './lent-nodes.ts';

const MaxRules = 60;
const MaxRuleCharacters = 600;

/**
 * MakeHeaderFinder finds the style sheets of a tab in which a coverage recording has already enabled the debugger
 * domain CSS.
 */
type MakeHeaderFinder = CssCoverage['makeHeaderFinder'];

/** StyleTools reads the computed styles of an element and, with the debugger, the CSS rules that match the element. */
export class StyleTools {
  readonly #frames: TabFrames;
  readonly #debuggers: Debuggers;
  readonly #makeHeaderFinder: MakeHeaderFinder;
  /** #lastReadByTab contains a promise for each tab, which resolves when the last read with the debugger has ended. */
  readonly #lastReadByTab = new Map<number, Promise<unknown>>();

  constructor(frames: TabFrames, debuggers: Debuggers, makeHeaderFinder: MakeHeaderFinder) {
    this.#frames = frames;
    this.#debuggers = debuggers;
    this.#makeHeaderFinder = makeHeaderFinder;
  }

  async read(call: BrowserCall): Promise<BrowserResult> {
    const target = requireText(call.args, 'target');
    const forcedStates = readTexts(call.args, 'forceState') ?? [];
    const frame = await this.#frames.findFrameByRef(call, target);
    try {
      return await this.#runAfterEarlierReads(call, () => this.#readByDebugger(call, frame, target, forcedStates));
    } catch (error) {
      if (!(error instanceof DebuggerUnavailableError) || forcedStates.length > 0) throw error;
    }
    const values = await this.#readComputedStyles(call, frame, target);
    return { text: 'Computed values. Matched rules need the debugger.', content: values.join('\n') };
  }

  /**
   * Only one read runs in a tab at a time, because all reads of a tab share the debugger domain CSS and the forced
   * states of elements.
   */
  async #runAfterEarlierReads<T>({ tabId, signal }: BrowserCall, readStyles: () => Promise<T>): Promise<T> {
    const styleRead = (this.#lastReadByTab.get(tabId) ?? Promise.resolve()).then(() => {
      signal.throwIfAborted();
      return readStyles();
    });
    const endedPromise = styleRead.catch(() => undefined);
    this.#lastReadByTab.set(tabId, endedPromise);
    try {
      return await styleRead;
    } finally {
      if (this.#lastReadByTab.get(tabId) === endedPromise) this.#lastReadByTab.delete(tabId);
    }
  }

  async #readComputedStyles(call: BrowserCall, frame: FrameTarget, target: string): Promise<string[]> {
    const properties = readTexts(call.args, 'properties');
    const options = properties === undefined ? { target } : { target, properties };
    const { line, values } = await this.#frames.run(call, frame, 'styles', options);
    return [line, ...values.map(({ property, value }: StyleValue) => `${property}: ${value}`)];
  }

  async #readByDebugger(
    call: BrowserCall,
    frame: FrameTarget,
    target: string,
    forcedStates: readonly string[],
  ): Promise<BrowserResult> {
    const debuggerFeatures = frame.frameId === 0 ? [] : (['children'] as const);
    return await this.#debuggers.use(call.tabId, debuggerFeatures, async (session) => {
      const { name } = await this.#frames.run(call, frame, 'lend', { target });
      const { childId, objectId } = await findSharedNode(session, frame.frameId === 0, name);
      const sendCommand = (method: string, params: Fields = {}) => session.send(method, params, undefined, childId);
      const sheetById = new Map<unknown, Fields>();
      const stopListening = session.onEvent((method, { header: sheetHeader }, id) => {
        if (id === childId && method === 'CSS.styleSheetAdded')
          sheetById.set(toFields(sheetHeader).styleSheetId, toFields(sheetHeader));
      });
      const findSheetHeader = await this.#makeHeaderFinder(call.tabId);
      try {
        await sendCommand('DOM.enable');
        // Chrome reports loaded style sheets only when the debugger domain CSS is being enabled.
        if (!findSheetHeader) await sendCommand('CSS.disable');
        await sendCommand('CSS.enable');
        await sendCommand('DOM.getDocument', { depth: 0 });
        const { nodeId } = await sendCommand('DOM.requestNode', { objectId });
        await sendCommand('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [...forcedStates] });
        try {
          const values = await this.#readComputedStyles(call, frame, target);
          const matchedStyles = await sendCommand('CSS.getMatchedStylesForNode', { nodeId });
          const ruleTexts = describeRules(matchedStyles, (id) => sheetById.get(id) ?? findSheetHeader?.(childId, id));
          const forcedStateText = forcedStates.length > 0 ? ` with the forced state ${forcedStates.join(', ')}` : '';
          const ruleLimitNote =
            ruleTexts.length > MaxRules ? ` The first ${MaxRules} of ${ruleTexts.length} rules are shown.` : '';
          return {
            text: `Computed values${forcedStateText}, then the matched rules, the strongest first.${ruleLimitNote}`,
            content: [...values, '', ...ruleTexts.slice(0, MaxRules)].join('\n'),
          };
        } finally {
          await sendCommand('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [] });
        }
      } finally {
        stopListening();
        const disableCommands = findSheetHeader ? [] : [sendCommand('CSS.disable'), sendCommand('DOM.disable')];
        await Promise.allSettled([
          ...disableCommands,
          sendCommand('Runtime.releaseObjectGroup', { objectGroup: name }),
        ]);
      }
    });
  }
}

type FindSheetHeader = (sheetId: unknown) => Fields | undefined;

/**
 * describeRules returns the inline style of an element and all CSS rules that match the element, in descending order of
 * precedence.
 */
function describeRules(matchedStyles: Fields, findSheetHeader: FindSheetHeader): string[] {
  const styleLines: string[] = [];
  const inlineDeclarations = formatDeclarations(matchedStyles.inlineStyle);
  if (inlineDeclarations !== '') styleLines.push(`element.style { ${inlineDeclarations} }`);
  for (const ruleMatch of [...toArrayOrEmpty(matchedStyles.matchedCSSRules)].reverse())
    styleLines.push(describeRule(ruleMatch, findSheetHeader));
  for (const [depth, inheritedEntry] of toArrayOrEmpty(matchedStyles.inherited).entries()) {
    const { matchedCSSRules } = toFields(inheritedEntry);
    for (const ruleMatch of [...toArrayOrEmpty(matchedCSSRules)].reverse()) {
      if (toFields(toFields(ruleMatch).rule).origin === 'user-agent') continue;
      styleLines.push(`inherited from ancestor ${depth + 1}: ${describeRule(ruleMatch, findSheetHeader)}`);
    }
  }
  return styleLines;
}

function describeRule(ruleMatch: unknown, findSheetHeader: FindSheetHeader): string {
  const { rule: cssRule } = toFields(ruleMatch);
  const { selectorList, origin, style, styleSheetId, media } = toFields(cssRule);
  const selector = String(toFields(selectorList).text);
  const conditions = toArrayOrEmpty(media).map((query) => `@media ${String(toFields(query).text)} `);
  const ruleText = `${conditions.join('')}${selector} { ${formatDeclarations(style)} }`;
  const shortRuleText = ruleText.length > MaxRuleCharacters ? `${ruleText.slice(0, MaxRuleCharacters)}…` : ruleText;
  if (origin === 'user-agent') return `${shortRuleText} (browser)`;
  const sheetHeader = findSheetHeader(styleSheetId);
  const { startLine } = toFields(toFields(style).range);
  if (!sheetHeader || typeof startLine !== 'number') return shortRuleText;
  // Chrome reports the line of the opening brace, which may be later than the line of the selector.
  const url = String(sheetHeader.sourceURL || 'a style sheet without an address');
  const isInline = sheetHeader.isInline === true && typeof sheetHeader.startLine === 'number';
  const line = startLine + (isInline ? Number(sheetHeader.startLine) : 0) + 1;
  return `${shortRuleText} (${url}:${line})`;
}

/**
 * formatDeclarations returns the CSS declarations that the page's author wrote, without the longhand properties that
 * Chrome adds.
 */
function formatDeclarations(style: unknown): string {
  const declarationTexts = toArrayOrEmpty(toFields(style).cssProperties)
    .map(toFields)
    .filter((property) => property.range !== undefined || property.text !== undefined)
    .map(({ name, value, important, disabled }) => {
      const ruleText = `${String(name)}: ${String(value)}${important === true && !/!important/.test(String(value)) ? ' !important' : ''}`;
      return disabled === true ? `/* ${ruleText} */` : ruleText;
    });
  if (declarationTexts.length > 0) return declarationTexts.join('; ');
  return toArrayOrEmpty(toFields(style).cssProperties)
    .map(toFields)
    .map(({ name, value }) => `${String(name)}: ${String(value)}`)
    .join('; ');
}
