import type {
  ActionArguments,
  ClickResult,
  FillArguments,
  FillField,
  FillOutcome,
  Modifier,
  MouseButton,
  PageActionResult,
  ScrollArguments,
  TypeResult,
} from '../../page/operations.ts';
import type { SecretKind } from '../../page/secret-kind.ts';
import type { UploadFile } from '../../page/upload-operation.ts';
import { isRecord } from '../../record.ts';
import type { ActionOutcome, PageActions } from './acts.ts';
import { readChoice, readFlag, readNumber, readText, readTexts, requireText } from './arguments.ts';
import type { BrowserCall, BrowserResult, BrowserTool } from './browser-tool.ts';
import type { TrustedInput } from './debugger/trusted-input.ts';
import type { FrameTarget, TabFrames } from './tab-frames.ts';
import { addUserText, callFailure, toolFailure } from './tool-failure.ts';

const mouseButtons: readonly MouseButton[] = ['left', 'right', 'middle'];
const modifierNames: readonly Modifier[] = ['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'];
const directions = ['up', 'down', 'left', 'right', 'top', 'bottom'] as const;

export function makeActionTools(frames: TabFrames, acts: PageActions, trusted: TrustedInput): [string, BrowserTool][] {
  const acting = new ActionTools(frames, acts, trusted);
  return [
    ['browser_click', (call) => acting.click(call)],
    ['browser_type', (call) => acting.type(call)],
    ['browser_fill_form', (call) => acting.fillForm(call)],
    ['browser_select_option', (call) => acting.selectOption(call)],
    ['browser_hover', (call) => acting.hover(call)],
    ['browser_drag', (call) => acting.drag(call)],
    ['browser_press_key', (call) => acting.pressKey(call)],
    ['browser_scroll', (call) => acting.scroll(call)],
    ['browser_file_upload', (call) => acting.upload(call)],
  ];
}

/** ActionTools implements the tools that act on a page, with one method for each tool. */
class ActionTools {
  readonly #frames: TabFrames;
  readonly #acts: PageActions;
  readonly #trusted: TrustedInput;
  /** #lastFrames contains the frame of the last action in each tab, by the ID of the tab's top document. */
  readonly #lastFrames = new Map<string, FrameTarget>();

  constructor(frames: TabFrames, acts: PageActions, trusted: TrustedInput) {
    this.#frames = frames;
    this.#trusted = trusted;
    this.#acts = acts;
  }

  async click(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = requireText(args, 'target');
    const button = readChoice(args, 'button', mouseButtons);
    const modifiers = readTexts(args, 'modifiers')?.map(toModifier);
    const options = {
      ...readActionOptions(call),
      target,
      doubleClick: readFlag(args, 'doubleClick'),
      ...(button === undefined ? {} : { button }),
      ...(modifiers === undefined ? {} : { modifiers }),
    };
    const act = await this.#run(call, target, async (frame) => {
      const clicked = await this.#trusted.run(call, frame, { name: 'click', args: options, isTrusted: true });
      return await this.#acts.runLinkScript(call, frame, clicked);
    });
    const link = act.result?.link;
    const content = link?.newTab === true ? [`link: ${link.href}`] : [];
    return await this.#acts.describe(call, `Clicked ${target}`, await this.#followLink(call, act), { content });
  }

  /** Chrome opens no new tabs for synthetic clicks. */
  async #followLink(call: BrowserCall, act: ActionOutcome<ClickResult>): Promise<ActionOutcome<ClickResult>> {
    const link = act.result?.link;
    if (!link?.newTab || act.result?.input === 'trusted' || act.opened.length > 0 || act.load !== undefined) return act;
    const tabId = await this.#acts.openLink(call, link.href);
    return tabId === undefined ? act : { ...act, opened: [{ tabId, url: link.href }] };
  }

  async type(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = requireText(args, 'target');
    const [slowly, submit] = [readFlag(args, 'slowly'), readFlag(args, 'submit')];
    const text = requireText(args, 'text');
    const options = { ...readActionOptions(call), target, text, append: readFlag(args, 'append'), slowly, submit };
    // Text that is inserted in one step causes trusted input events even without the debugger.
    const act = await this.#run(call, target, (frame) =>
      this.#trusted.run(call, frame, { name: 'type', args: options, isTrusted: slowly || submit }),
    );
    return await this.#acts.describe(call, `Typed into ${target}`, act, describeValue(act.result));
  }

  /** One page script operation fills all consecutive fields that are in the same frame. */
  async fillForm(call: BrowserCall): Promise<BrowserResult> {
    const fields = readFields(call.args.fields);
    const groups: { frame: FrameTarget; fields: FillField[] }[] = [];
    for (const field of fields) {
      const frame = await this.#frames.findByRef(call, field.target);
      const last = groups.at(-1);
      if (last?.frame.documentId === frame.documentId) last.fields.push(field);
      else groups.push({ frame, fields: [field] });
    }
    const outcomes: FillOutcome[] = [];
    let lastAct: ActionOutcome<PageActionResult> | undefined;
    let isSubmitted = false;
    for (const [i, { frame, fields: group }] of groups.entries()) {
      const isLast = i === groups.length - 1;
      const options: FillArguments = {
        ...readActionOptions(call),
        ...(isLast ? {} : { snapshot: 'none' }),
        fields: group,
        submit: isLast && readFlag(call.args, 'submit'),
      };
      const act = await this.#runIn(call, frame, () =>
        this.#trusted.run(call, frame, { name: 'fill', args: options, isTrusted: true }),
      );
      outcomes.push(...(act.result?.fields ?? group.map(({ target }) => ({ target, ok: true }))));
      isSubmitted ||= act.result?.submitted === true;
      lastAct = act;
      if (!act.result) break;
    }
    if (!lastAct) throw callFailure('invalid_arguments', 'browser_fill_form needs at least one field');
    const failed = outcomes.filter(({ ok }) => !ok);
    const code = failed.some(({ error }) => error?.code === 'needs_approval') ? 'needs_approval' : 'rejected';
    if (failed.length === outcomes.length && failed[0]?.error)
      throw toolFailure(
        code,
        addUserText(code, `no field was filled: ${failed.map(describeFailure).join('; ')}`),
        failed.map(describePageText).join('\n').trim() || undefined,
      );
    const words = failed.length > 0 ? ['The others were not filled.'] : [];
    if (isSubmitted) words.push('The form was submitted.');
    const wanted = new Map(fields.map(({ target, value }) => [target, String(value)]));
    const content = outcomes.flatMap((outcome) => {
      if (!outcome.ok) return [`${describeFailure(outcome)} (not filled)`, describePageText(outcome)].filter(Boolean);
      const { target, value } = outcome;
      // If a field's value differs from the requested value, a separate line reports the field's actual value.
      return value === undefined || value === wanted.get(target) ? [] : [`${target}: ${value}`];
    });
    const verb = `Filled ${outcomes.length - failed.length} of ${fields.length} fields`;
    return await this.#acts.describe(call, verb, lastAct, { words, content });
  }

  async selectOption(call: BrowserCall): Promise<BrowserResult> {
    const target = requireText(call.args, 'target');
    const values = readTexts(call.args, 'values') ?? [];
    const act = await this.#run(call, target, (frame) =>
      this.#trusted.run(call, frame, {
        name: 'select',
        args: { ...readActionOptions(call), target, values },
        isTrusted: true,
      }),
    );
    const chosen = act.result?.chosen.map((label) => JSON.stringify(label)).join(', ');
    const content = chosen === undefined ? [] : [`chosen: ${chosen === '' ? 'nothing' : chosen}`];
    const isShown = act.result?.shown ?? true;
    const verb = isShown ? `Selected options of ${target}` : `Tried to select options of ${target}`;
    const words = isShown ? [] : ['The page does not show all options as chosen. Check them with a snapshot.'];
    return await this.#acts.describe(call, verb, act, { words, content });
  }

  async hover(call: BrowserCall): Promise<BrowserResult> {
    const target = requireText(call.args, 'target');
    const act = await this.#run(call, target, (frame) =>
      this.#trusted.run(call, frame, { name: 'hover', args: { ...readActionOptions(call), target }, isTrusted: true }),
    );
    return await this.#acts.describe(call, `Moved the pointer over ${target}`, act);
  }

  async drag(call: BrowserCall): Promise<BrowserResult> {
    const startTarget = requireText(call.args, 'startTarget');
    const endTarget = readText(call.args, 'endTarget');
    if (endTarget === undefined) return await this.#dragByOffset(call, startTarget);
    const [start, end] = await Promise.all([
      this.#frames.findByRef(call, startTarget),
      this.#frames.findByRef(call, endTarget),
    ]);
    const options = { ...readActionOptions(call), startTarget, endTarget };
    const act = await this.#run(call, startTarget, (frame) =>
      start.documentId === end.documentId
        ? this.#trusted.run(call, frame, { name: 'drag', args: options, isTrusted: true })
        : this.#trusted.dragBetween(call, [start, end], options),
    );
    return await this.#acts.describe(call, `Dragged ${startTarget} to ${endTarget}`, act);
  }

  async #dragByOffset(call: BrowserCall, startTarget: string): Promise<BrowserResult> {
    const { x = 0, y = 0 } = Object(call.args.offset);
    if (typeof x !== 'number' || typeof y !== 'number' || (x === 0 && y === 0))
      throw callFailure('invalid_arguments', 'browser_drag needs endTarget, or an offset such as {"x":40,"y":0}');
    const args = { ...readActionOptions(call), startTarget, offset: { x, y } };
    const act = await this.#run(call, startTarget, (frame) =>
      this.#trusted.run(call, frame, { name: 'drag', args, isTrusted: true }),
    );
    return await this.#acts.describe(call, `Dragged ${startTarget} by ${x}, ${y}`, act);
  }

  async pressKey(call: BrowserCall): Promise<BrowserResult> {
    const target = readText(call.args, 'target');
    const key = requireText(call.args, 'key');
    const options = { ...readActionOptions(call), key, ...(target === undefined ? {} : { target }) };
    const act = await this.#run(call, target, (frame) =>
      this.#trusted.run(call, frame, { name: 'press', args: options, isTrusted: true }),
    );
    return await this.#acts.describe(call, `Pressed ${key}`, act);
  }

  async scroll(call: BrowserCall): Promise<BrowserResult> {
    const { args } = call;
    const target = readText(args, 'target');
    const direction = readChoice(args, 'direction', directions);
    const amount = readNumber(args, 'amount');
    if (target === undefined && direction === undefined)
      throw callFailure('invalid_arguments', 'browser_scroll needs a target, a direction, or both');
    const options: ScrollArguments = {
      ...readActionOptions(call),
      ...(target === undefined ? {} : { target }),
      ...(direction === undefined ? {} : { direction }),
      ...(amount === undefined ? {} : { amount }),
    };
    const act = await this.#run(call, target, (frame) => this.#frames.run(call, frame, 'scroll', options));
    const words: string[] = [];
    if (act.result) {
      const { position, size, visible } = act.result;
      const [x, y] = [Math.round(position.x), Math.round(position.y)];
      words.push(
        `Position ${x}, ${y} of ${size.width} x ${size.height}; ${visible.width} x ${visible.height} is in view.`,
      );
    }
    return await this.#acts.describe(call, 'Scrolled', act, { words });
  }

  async upload(call: BrowserCall): Promise<BrowserResult> {
    const target = readText(call.args, 'target');
    const files = readFiles(call.args.files);
    const options = { ...readActionOptions(call), files, ...(target === undefined ? {} : { target }) };
    const act = await this.#run(call, target, (frame) =>
      this.#trusted.run(call, frame, { name: 'upload', args: options, isTrusted: false }),
    );
    const words = act.result
      ? [`The page received them by ${act.result.by === 'drop' ? 'a drop' : 'a file field'}.`]
      : [];
    const content = act.result?.files.map(({ name, bytes }) => `${name}: ${bytes} bytes`) ?? [];
    const verb = `Uploaded ${files.length} ${files.length === 1 ? 'file' : 'files'}`;
    return await this.#acts.describe(call, verb, act, { words, content });
  }

  /** Without a ref, an action runs in the frame of the last action in the document. */
  async #run<R extends PageActionResult>(
    call: BrowserCall,
    ref: string | undefined,
    operation: (frame: FrameTarget) => Promise<R>,
  ): Promise<ActionOutcome<R>> {
    const frame = ref === undefined ? await this.#lastFrame(call) : await this.#frames.findByRef(call, ref);
    return await this.#runIn(call, frame, () => operation(frame));
  }

  async #runIn<R extends PageActionResult>(
    call: BrowserCall,
    frame: FrameTarget,
    operation: () => Promise<R>,
  ): Promise<ActionOutcome<R>> {
    const act = await this.#acts.run(call, frame, operation);
    if (call.documentId !== '') {
      for (const [document, { tabId }] of this.#lastFrames) if (tabId === call.tabId) this.#lastFrames.delete(document);
      if (act.result) this.#lastFrames.set(call.documentId, frame);
    }
    return act;
  }

  /** If the frame no longer exists, lastFrame returns the top frame. */
  async #lastFrame(call: BrowserCall): Promise<FrameTarget> {
    const last = this.#lastFrames.get(call.documentId);
    if (!last || last.frameId === 0) return await this.#frames.top(call);
    const frames = await this.#frames.list(call);
    return frames.find((frame) => frame.documentId === last.documentId) ?? (await this.#frames.top(call));
  }
}

/** If the agent requests a full snapshot, the worker takes the snapshot of all frames after the action. */
function readActionOptions({ args }: BrowserCall): ActionArguments {
  const snapshot = readChoice(args, 'snapshot', ['diff', 'none', 'full']) ?? 'diff';
  return { snapshot: snapshot === 'diff' ? 'diff' : 'none', secrets: readApprovedSecretKinds(args) };
}

/** The server adds SecretsArgumentName to calls to pass the kinds of secret fields that the user has approved. */
const SecretsArgumentName = '_secrets';
const secretKinds: readonly SecretKind[] = ['password', 'card', 'code'];

function readApprovedSecretKinds(args: BrowserCall['args']): SecretKind[] {
  const approved = readTexts(args, SecretsArgumentName) ?? [];
  return secretKinds.filter((kind) => approved.includes(kind));
}

function toModifier(text: string): Modifier {
  const modifier = modifierNames.find((name) => name === text);
  if (modifier) return modifier;
  throw callFailure('invalid_arguments', `the argument modifiers allows ${modifierNames.join(', ')}`);
}

function describeValue(result: TypeResult | undefined): { words: string[]; content: string[] } {
  if (!result) return { words: [], content: [] };
  const words = result.exact
    ? []
    : ['The field does not contain exactly this text: the page changed or rejected some.'];
  return { words, content: result.value === undefined ? [] : [`value: ${JSON.stringify(result.value)}`] };
}

function describePageText({ target, error }: FillOutcome): string {
  return error?.pageText === undefined ? '' : `${target}: ${error.pageText}`;
}

function describeFailure({ target, error }: FillOutcome): string {
  return `${target}: ${error?.message ?? 'the page rejected the value'}`;
}

function readFields(value: unknown): FillField[] {
  const problem = 'the argument fields must be a list of objects with target and value';
  if (!Array.isArray(value)) throw callFailure('invalid_arguments', problem);
  return value.map((item: unknown): FillField => {
    const { target, value: fieldValue } = isRecord(item) ? item : {};
    if (typeof target !== 'string') throw callFailure('invalid_arguments', problem);
    if (typeof fieldValue === 'string' || typeof fieldValue === 'boolean') return { target, value: fieldValue };
    if (typeof fieldValue === 'number') return { target, value: String(fieldValue) };
    const values = readTexts({ value: fieldValue }, 'value');
    if (values === undefined) throw callFailure('invalid_arguments', problem);
    return { target, value: values };
  });
}

function readFiles(value: unknown): UploadFile[] {
  const problem = 'the server sent no files for the upload';
  if (!Array.isArray(value) || value.length === 0) throw callFailure('invalid_arguments', problem);
  return value.map((item: unknown): UploadFile => {
    const { name, mimeType = '', data } = isRecord(item) ? item : {};
    if (typeof name !== 'string' || typeof mimeType !== 'string' || typeof data !== 'string')
      throw callFailure('invalid_arguments', problem);
    return { name, type: mimeType, base64: data };
  });
}
