import type { StyleValue } from '../../../page/devtools-operations.ts';
import type { Fields } from '../../../record.ts';
import { readTexts, requireText } from '../arguments.ts';
import type { BrowserCall, BrowserResult } from '../browser-tool.ts';
import { type Debuggers, DebuggerUnavailable } from '../debugger/debuggers.ts';
import type { FrameTarget, TabFrames } from '../tab-frames.ts';
import type { CssCoverage } from './css-coverage.ts';
import { toFields, toList } from './debugged-frames.ts';
import { findSharedNode, ObjectGroupName } from './lent-nodes.ts';

const MaxRules = 60;
const MaxRuleCharacters = 600;

/**
 * FindHeaders finds the style sheets of a tab in which a coverage recording has already enabled the debugger domain
 * CSS.
 */
type FindHeaders = CssCoverage['findHeaders'];

/** Styles reads the computed styles of an element and, with the debugger, the CSS rules that match the element. */
export class Styles {
  readonly #frames: TabFrames;
  readonly #debuggers: Debuggers;
  readonly #findHeaders: FindHeaders;

  constructor(frames: TabFrames, debuggers: Debuggers, findHeaders: FindHeaders) {
    this.#frames = frames;
    this.#debuggers = debuggers;
    this.#findHeaders = findHeaders;
  }

  async read(call: BrowserCall): Promise<BrowserResult> {
    const target = requireText(call.args, 'target');
    const states = readTexts(call.args, 'forceState') ?? [];
    const frame = await this.#frames.findByRef(call, target);
    try {
      return await this.#readByDebugger(call, frame, target, states);
    } catch (error) {
      if (!(error instanceof DebuggerUnavailable) || states.length > 0) throw error;
    }
    const values = await this.#readValues(call, frame, target);
    return { text: 'Computed values. Matched rules need the debugger.', content: values.join('\n') };
  }

  async #readValues(call: BrowserCall, frame: FrameTarget, target: string): Promise<string[]> {
    const properties = readTexts(call.args, 'properties');
    const options = properties === undefined ? { target } : { target, properties };
    const { line, values } = await this.#frames.run(call, frame, 'styles', options);
    return [line, ...values.map(({ property, value }: StyleValue) => `${property}: ${value}`)];
  }

  async #readByDebugger(
    call: BrowserCall,
    frame: FrameTarget,
    target: string,
    states: readonly string[],
  ): Promise<BrowserResult> {
    const features = frame.frameId === 0 ? [] : (['children'] as const);
    return await this.#debuggers.use(call.tabId, features, async (session) => {
      const { name } = await this.#frames.run(call, frame, 'lend', { target });
      const { childId, objectId } = await findSharedNode(session, frame.frameId === 0, name);
      const send = (method: string, params: Fields = {}) => session.send(method, params, undefined, childId);
      const sheets = new Map<unknown, Fields>();
      const stop = session.onEvent((method, { header }, id) => {
        if (id === childId && method === 'CSS.styleSheetAdded')
          sheets.set(toFields(header).styleSheetId, toFields(header));
      });
      const headerOf = await this.#findHeaders(call.tabId);
      try {
        await send('DOM.enable');
        // Chrome reports loaded style sheets only when the debugger domain CSS is being enabled.
        if (!headerOf) await send('CSS.disable');
        await send('CSS.enable');
        await send('DOM.getDocument', { depth: 0 });
        const { nodeId } = await send('DOM.requestNode', { objectId });
        await send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [...states] });
        try {
          const values = await this.#readValues(call, frame, target);
          const matched = await send('CSS.getMatchedStylesForNode', { nodeId });
          const rules = describeRules(matched, (id) => sheets.get(id) ?? headerOf?.(childId, id));
          const forced = states.length > 0 ? ` with the forced state ${states.join(', ')}` : '';
          const cut = rules.length > MaxRules ? ` The first ${MaxRules} of ${rules.length} rules are shown.` : '';
          return {
            text: `Computed values${forced}, then the matched rules, the strongest first.${cut}`,
            content: [...values, '', ...rules.slice(0, MaxRules)].join('\n'),
          };
        } finally {
          await send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: [] });
        }
      } finally {
        stop();
        const off = headerOf ? [] : [send('CSS.disable'), send('DOM.disable')];
        await Promise.allSettled([...off, send('Runtime.releaseObjectGroup', { objectGroup: ObjectGroupName })]);
      }
    });
  }
}

type FindHeader = (sheetId: unknown) => Fields | undefined;

/**
 * describeRules returns the inline style of an element and all CSS rules that match the element, in descending order of
 * precedence.
 */
function describeRules(matched: Fields, findHeader: FindHeader): string[] {
  const lines: string[] = [];
  const inline = formatDeclarations(matched.inlineStyle);
  if (inline !== '') lines.push(`element.style { ${inline} }`);
  for (const match of [...toList(matched.matchedCSSRules)].reverse()) lines.push(describeRule(match, findHeader));
  for (const [depth, entry] of toList(matched.inherited).entries()) {
    const { matchedCSSRules } = toFields(entry);
    for (const match of [...toList(matchedCSSRules)].reverse()) {
      if (toFields(toFields(match).rule).origin === 'user-agent') continue;
      lines.push(`inherited from ancestor ${depth + 1}: ${describeRule(match, findHeader)}`);
    }
  }
  return lines;
}

function describeRule(match: unknown, findHeader: FindHeader): string {
  const { rule } = toFields(match);
  const { selectorList, origin, style, styleSheetId, media } = toFields(rule);
  const selector = String(toFields(selectorList).text);
  const conditions = toList(media).map((query) => `@media ${String(toFields(query).text)} `);
  const text = `${conditions.join('')}${selector} { ${formatDeclarations(style)} }`;
  const cut = text.length > MaxRuleCharacters ? `${text.slice(0, MaxRuleCharacters)}…` : text;
  if (origin === 'user-agent') return `${cut} (browser)`;
  const header = findHeader(styleSheetId);
  const { startLine } = toFields(toFields(style).range);
  if (!header || typeof startLine !== 'number') return cut;
  // Chrome reports the line of the opening brace, which may be later than the line of the selector.
  const url = String(header.sourceURL || 'a style sheet without an address');
  const isInline = header.isInline === true && typeof header.startLine === 'number';
  const line = startLine + (isInline ? Number(header.startLine) : 0) + 1;
  return `${cut} (${url}:${line})`;
}

/**
 * formatDeclarations returns the CSS declarations that the page's author wrote, without the longhand properties that
 * Chrome adds.
 */
function formatDeclarations(style: unknown): string {
  const declarations = toList(toFields(style).cssProperties)
    .map(toFields)
    .filter((property) => property.range !== undefined || property.text !== undefined)
    .map(({ name, value, important, disabled }) => {
      const text = `${String(name)}: ${String(value)}${important === true && !/!important/.test(String(value)) ? ' !important' : ''}`;
      return disabled === true ? `/* ${text} */` : text;
    });
  if (declarations.length > 0) return declarations.join('; ');
  return toList(toFields(style).cssProperties)
    .map(toFields)
    .map(({ name, value }) => `${String(name)}: ${String(value)}`)
    .join('; ');
}
