// Uploads files to file fields, and to elements that accept dropped files.
import { runAction } from './act.ts';
import { describeElement } from './describe.ts';
import { PageFailure } from './failure.ts';
import { findClosestInFlatTree, getFlatParent, selectAll } from './flat-tree.ts';
import { findInputPoint } from './ready.ts';
import { findTarget, type PageContext } from './state.ts';
import { isDisabled } from './states.ts';
import type { UploadArguments, UploadFile, UploadResult } from './upload-operation.ts';

const MaxUploadBytes = 100 * 1024 * 1024;

export async function upload(args: UploadArguments, context: PageContext): Promise<UploadResult> {
  if (args.files.length === 0) throw new PageFailure('invalid_arguments', 'files is empty. Give at least one file.');
  const target = args.target ? findTarget(args.target, context) : undefined;
  const field = findFileField(target, context);
  if (!field && !target)
    throw new PageFailure('wrong_element', 'The page has no file field. Give the target that takes dropped files.');
  const files = decodeFiles(args.files);
  const fileSizes = files.map((file) => ({ name: file.name, bytes: file.size }));
  const actionResult = await runAction(args, context, async () => {
    context.markActed();
    const dataTransfer = new DataTransfer();
    for (const file of files) dataTransfer.items.add(file);
    if (field) {
      const notes = setFiles(field, dataTransfer);
      return { target: field, input: 'synthetic', notes, hasEffect: () => true };
    }
    const notes = target ? dropFiles(target, dataTransfer) : [];
    return { target, input: 'synthetic', notes };
  });
  return { ...actionResult, files: fileSizes, by: field ? 'field' : 'drop' };
}

function findFileField(target: Element | undefined, context: PageContext): HTMLInputElement | undefined {
  if (!target) {
    const fields = selectAll('input[type=file]').filter((field) => !isDisabled(field));
    if (fields.length > 1) {
      const lines = fields.slice(0, 5).map((field) => describeElement(field, context));
      throw new PageFailure(
        'invalid_arguments',
        `The page has ${fields.length} file fields. Give one as the target.`,
        lines.join('\n'),
      );
    }
    return isFileField(fields[0]) ? fields[0] : undefined;
  }
  if (isFileField(target)) return target;
  const label = findClosestInFlatTree(target, (at) => at instanceof HTMLLabelElement);
  const labelledControl = label instanceof HTMLLabelElement ? label.control : undefined;
  if (isFileField(labelledControl)) return labelledControl;
  const innerInputs = selectAll('input[type=file]').filter((field) => target.contains(field));
  if (isFileField(innerInputs[0])) return innerInputs[0];
  // A button that opens the file chooser is usually next to a hidden file field.
  if (!/^(button|a)$/.test(target.localName) && target.getAttribute('role') !== 'button') return undefined;
  const nearbyFields = [...(getFlatParent(target)?.querySelectorAll('input[type=file]') ?? [])];
  const next =
    nearbyFields.length === 1
      ? nearbyFields[0]
      : [target.previousElementSibling, target.nextElementSibling].find(isFileField);
  return isFileField(next) ? next : undefined;
}

function isFileField(element: unknown): element is HTMLInputElement {
  return element instanceof HTMLInputElement && element.type === 'file';
}

function decodeFiles(files: readonly UploadFile[]): File[] {
  let total = 0;
  return files.map(({ name, type, base64 }) => {
    total += base64.length * 0.75;
    if (total > MaxUploadBytes) throw new PageFailure('invalid_arguments', 'The files have more than 100 MB.');
    return new File([decodeBase64(base64, name)], name, { type });
  });
}

function decodeBase64(base64: string, name: string): Uint8Array<ArrayBuffer> {
  let binaryText: string;
  try {
    binaryText = atob(base64);
  } catch {
    throw new PageFailure('invalid_arguments', `The content of ${name} is not base64.`);
  }
  const bytes = new Uint8Array(binaryText.length);
  for (let i = 0; i < binaryText.length; i++) bytes[i] = binaryText.charCodeAt(i);
  return bytes;
}

function setFiles(field: HTMLInputElement, dataTransfer: DataTransfer): string[] {
  if (isDisabled(field)) throw new PageFailure('not_hittable', 'The file field is disabled.');
  if (!field.multiple && dataTransfer.files.length > 1) {
    throw new PageFailure('invalid_arguments', `The file field takes one file, not ${dataTransfer.files.length}.`);
  }
  const rejectedFiles = [...dataTransfer.files]
    .filter((file) => !isAccepted(file, field.accept))
    .map((file) => file.name);
  field.files = dataTransfer.files;
  field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  field.dispatchEvent(new Event('change', { bubbles: true }));
  return rejectedFiles.length > 0
    ? [`The field does not accept the type of ${rejectedFiles.join(', ')}, so the page may reject them.`]
    : [];
}

export function isAccepted(file: Pick<File, 'name' | 'type'>, acceptValue: string): boolean {
  const acceptRules = acceptValue
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .filter((rule) => rule !== '');
  if (acceptRules.length === 0) return true;
  const [name, type] = [file.name.toLowerCase(), file.type.toLowerCase()];
  return acceptRules.some((rule) => {
    if (rule.startsWith('.')) return name.endsWith(rule);
    return rule.endsWith('/*') ? type.startsWith(rule.slice(0, -1)) : type === rule;
  });
}

function dropFiles(target: Element, dataTransfer: DataTransfer): string[] {
  target.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  const inputPoint = findInputPoint(target);
  const rect = target.getBoundingClientRect();
  const [x, y] =
    'hit' in inputPoint ? [inputPoint.x, inputPoint.y] : [rect.x + rect.width / 2, rect.y + rect.height / 2];
  const hitElement = 'hit' in inputPoint ? inputPoint.hit : target;
  const sendDragEvent = (type: string) =>
    hitElement.dispatchEvent(
      new DragEvent(type, {
        bubbles: true,
        cancelable: true,
        composed: true,
        view: window,
        clientX: x,
        clientY: y,
        dataTransfer,
      }),
    );
  sendDragEvent('dragenter');
  if (sendDragEvent('dragover')) {
    sendDragEvent('dragleave');
    throw new PageFailure(
      'rejected',
      'The element does not accept dropped files. Use the ref of a file field or of another area.',
    );
  }
  sendDragEvent('drop');
  return [];
}
