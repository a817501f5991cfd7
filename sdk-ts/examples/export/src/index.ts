import { OpenTabsPlugin, type ToolDefinition } from '@opentabs-dev/plugin-sdk';
import { exportMessages } from './tools/export-messages.ts';

class ExportPlugin extends OpenTabsPlugin {
  readonly name = 'export';
  readonly displayName = 'Export';
  readonly description = 'Exports the messages of a channel.';
  readonly urlPatterns = ['*://localhost/*', '*://127.0.0.1/*'];
  readonly tools: ToolDefinition[] = [exportMessages];

  async isReady() {
    return true;
  }
}

export default new ExportPlugin();
