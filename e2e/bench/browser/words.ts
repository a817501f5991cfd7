/** Translates browser actions into the tool calls of opentabs, Playwright MCP and chrome-devtools-mcp. */
import type { ServerTools } from './agent.ts';

function findRefOnLine(answerText: string, elementName: string, elementRef: RegExp): string | undefined {
  for (const line of answerText.split('\n')) {
    const nameIndex = line.indexOf(elementName);
    const refMatch = nameIndex < 0 ? undefined : elementRef.exec(line.slice(nameIndex + elementName.length));
    if (refMatch?.[1] !== undefined) return refMatch[1];
  }
  return undefined;
}

const bracketedRefPattern = /\[ref=(\w+)\]/;

export const opentabsTools: ServerTools = {
  open: (url) => ['browser_navigate', { url }],
  snapshot: () => ['browser_snapshot', {}],
  click: (target) => ['browser_click', { target }],
  type: (target, typedText) => ['browser_type', { target, text: typedText }],
  submit: (target, typedText) => [['browser_type', { target, text: typedText, submit: true }]],
  select: (target, value) => ['browser_select_option', { target, values: [value] }],
  fill: (formFields) => [
    'browser_fill_form',
    {
      fields: formFields.map(({ ref: elementRef, kind, value }) => ({
        target: elementRef,
        value: kind === 'checkbox' ? value === 'true' : value,
      })),
    },
  ],
  upload: (target, path) => [['browser_file_upload', { target, paths: [path] }]],
  screenshot: () => ['browser_take_screenshot', { type: 'png' }],
  evaluate: (code) => ['browser_evaluate', { function: code }],
  findRef: (answerText, elementName) => findRefOnLine(answerText, elementName, bracketedRefPattern),
};

/** After a click, Playwright MCP returns the name of a snapshot file; browser_snapshot returns the page content. */
export const playwrightTools: ServerTools = {
  open: (url) => ['browser_navigate', { url }],
  snapshot: () => ['browser_snapshot', {}],
  click: (target) => ['browser_click', { target }],
  type: (target, typedText) => ['browser_type', { target, text: typedText }],
  submit: (target, typedText) => [['browser_type', { target, text: typedText, submit: true }]],
  select: (target, value) => ['browser_select_option', { target, values: [value] }],
  fill: (formFields) => [
    'browser_fill_form',
    {
      fields: formFields.map(({ ref: elementRef, label, kind, value }) => ({
        target: elementRef,
        name: label,
        type: kind,
        value,
      })),
    },
  ],
  upload: (target, path) => [
    ['browser_click', { target }],
    ['browser_file_upload', { paths: [path] }],
  ],
  screenshot: () => ['browser_take_screenshot', { type: 'png' }],
  evaluate: (code) => ['browser_evaluate', { function: code }],
  findRef: (answerText, elementName) => findRefOnLine(answerText, elementName, bracketedRefPattern),
};

/** chrome-devtools-mcp assigns refs even to plain text, which an agent cannot click. */
const elementLinePattern = /uid=\w+ (?!StaticText|LabelText|InlineTextBox|generic|ignored)[a-z]/i;

export function makeChromeDevtoolsTools(): ServerTools {
  const page = { pageId: 1 };
  return {
    open: (url) => ['navigate_page', { ...page, type: 'url', url }],
    snapshot: () => ['take_snapshot', page],
    click: (uid) => ['click', { ...page, uid }],
    type: (uid, typedText) => ['fill', { ...page, uid, value: typedText }],
    submit: (uid, typedText) => [
      ['fill', { ...page, uid, value: typedText }],
      ['press_key', { ...page, key: 'Enter' }],
    ],
    select: (uid, value) => ['fill', { ...page, uid, value }],
    fill: (formFields) => [
      'fill_form',
      { ...page, elements: formFields.map(({ ref: elementRef, value }) => ({ uid: elementRef, value })) },
    ],
    upload: (uid, path) => [['upload_file', { ...page, uid, filePaths: [path] }]],
    screenshot: () => ['take_screenshot', page],
    evaluate: (code) => ['evaluate_script', { ...page, function: code }],
    findRef(answerText, elementName) {
      const line = answerText
        .split('\n')
        .find((answerLine) => elementLinePattern.test(answerLine) && answerLine.includes(elementName));
      return /uid=(\w+)/.exec(line ?? '')?.[1];
    },
  };
}
