/**
 * Draws docs/images/long-call.svg from a real run of `opentabs call` in a terminal of 92 columns.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { opentabsBinary, repositoryRoot } from './harness/process.ts';
import { startStack } from './harness/stack.ts';

const columnCount = 92;
const frameCount = 12;
const output = join(repositoryRoot, 'docs/images/long-call.svg');
const command = 'opentabs call messages__export_messages --arg channelId=archive-60-650 > archive.json';

interface TerminalLine {
  readonly atMs: number;
  readonly text: string;
}

async function recordTerminal(env: Readonly<Record<string, string>>, folder: string): Promise<readonly TerminalLine[]> {
  const path = `${dirname(opentabsBinary)}:${process.env.PATH ?? ''}`;
  const shellScript = `stty cols ${columnCount} rows 24; cd '${folder}'; ${command}`;
  const child = spawn('script', ['-qec', shellScript, '/dev/null'], {
    env: { ...process.env, ...env, PATH: path, TERM: 'xterm-256color', LANG: 'C.UTF-8', SHELL: '/bin/sh' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const startMs = Date.now();
  const terminalLines: TerminalLine[] = [];
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    const lastLine = readLastLine(chunk);
    if (lastLine !== '') terminalLines.push({ atMs: Date.now() - startMs, text: lastLine });
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`the command exited with ${String(code)}: ${terminalLines.at(-1)?.text ?? ''}`);
  return terminalLines;
}

function readLastLine(chunk: string): string {
  const controlSequencePattern = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g');
  const redrawnLines = chunk.replace(controlSequencePattern, '').split(/[\r\n]+/);
  return redrawnLines.findLast((lastLine) => lastLine.trim() !== '')?.trimEnd() ?? '';
}

function selectAnimationFrames(terminalLines: readonly TerminalLine[]): readonly TerminalLine[] {
  const endMs = terminalLines.at(-1)?.atMs ?? 0;
  const frames = Array.from({ length: frameCount }, (_, i) => {
    const atMs = (endMs * i) / (frameCount - 1);
    return terminalLines.find((line) => line.atMs >= atMs);
  });
  return frames.filter((line) => line !== undefined);
}

function drawSvg(terminalLines: readonly TerminalLine[]): string {
  const width = Math.ceil(columnCount * 7.85) + 32;
  const totalSeconds = terminalLines.length * 0.6 + 2;
  const keyframeStyles = terminalLines.map((_, i) => {
    const frameStartPercent = ((i * 0.6) / totalSeconds) * 100;
    const frameEndPercent = i === terminalLines.length - 1 ? 100 : (((i + 1) * 0.6) / totalSeconds) * 100;
    const hideBeforeKeyframe = i === 0 ? '' : '0%{opacity:0}';
    const hideAfterKeyframe = frameEndPercent === 100 ? '' : `${frameEndPercent.toFixed(2)}%,100%{opacity:0}`;
    return `@keyframes f${i}{${hideBeforeKeyframe}${frameStartPercent.toFixed(2)}%{opacity:1}${hideAfterKeyframe}}`;
  });
  const textElements = terminalLines.map(
    (line, i) => `<text x="16" y="56" class="l" id="l${i}">${escapeXml(line.text)}</text>`,
  );
  const animationStyles = terminalLines.map((_, i) => `#l${i}{animation:f${i} ${totalSeconds}s steps(1) infinite}`);
  const staticFrameIndex = Math.floor(terminalLines.length * 0.8);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 76" role="img" aria-label="A long call in a terminal, with its progress bar">
<style>text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#d4d4d4;white-space:pre}.l{opacity:0}
@media(prefers-reduced-motion:reduce){#l${staticFrameIndex}{opacity:1}}
@media(prefers-reduced-motion:no-preference){${animationStyles.join('')}}
${keyframeStyles.join('\n')}</style>
<rect width="${width}" height="76" rx="8" fill="#1e1e1e"/>
<text x="16" y="28" style="fill:#7fd88f">$<tspan fill="#d4d4d4" x="32">${escapeXml(command)}</tspan></text>
${textElements.join('\n')}
</svg>
`;
}

function escapeXml(lastLine: string): string {
  return lastLine.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const stack = await startStack();
try {
  const terminalLines = await recordTerminal(stack.env, stack.homeFolder);
  const archiveBytes = readFileSync(join(stack.homeFolder, 'archive.json')).length;
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, drawSvg(selectAnimationFrames(terminalLines)));
  const lastLine = terminalLines.at(-1);
  process.stdout.write(
    `${output}: ${terminalLines.length} lines in ${lastLine?.atMs ?? 0} ms, a result of ${archiveBytes} bytes\n`,
  );
} finally {
  await stack.close();
}
