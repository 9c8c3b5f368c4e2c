import type { HostedTool } from '../protocol/model.ts'
import type { HostedCalls } from '../protocol/response.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'

/** Item types of hosted tools that vendors charge by the call. */
const hostedItems: ReadonlyMap<Json | undefined, HostedTool> = new Map<Json | undefined, HostedTool>([
  ['web_search_call', 'web_search'],
  ['web_fetch_call', 'web_fetch'],
  ['file_search_call', 'file_search'],
  ['code_interpreter_call', 'code_interpreter'],
  // Perplexity's.
  ['search_results', 'web_search'],
  ['fetch_url_results', 'web_fetch'],
])

/** The hosted tool that an item or a block of an answer is a call of. `hostedToolOf({ type: 'server_tool_use', name: 'web_search' }) // 'web_search'` */
export const hostedToolOf = ({ type, name }: JsonObject): HostedTool | undefined =>
  hostedItems.get(type === 'server_tool_use' && typeof name === 'string' ? `${name}_call` : type)

/** The calls with one more of a tool. `oneCallMore({ web_search: 1 }, 'web_search') // { web_search: 2 }` */
export const oneCallMore = (calls: HostedCalls | undefined, tool: HostedTool): HostedCalls => ({
  ...calls,
  [tool]: (calls?.[tool] ?? 0) + 1,
})
