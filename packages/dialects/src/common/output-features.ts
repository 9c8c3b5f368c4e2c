import type { Fate } from '../protocol/dialect.ts'
import { imageType } from './generated-image.ts'

// The response features that a client dialect may keep, map or lose. Each client dialect declares its fates in its `output-fidelity.ts`.
// docs/fidelity.md is generated from both, and dropped features are named in a warning.

export interface OutputFeature {
  readonly name: string
  /** Types of its items, parts and annotations in the internal format. Absent: it has no type of its own. */
  readonly types?: readonly string[]
  /** Whether the client must act on it. If it is dropped, a sentence in the response says so. */
  readonly isForClient?: boolean
}

const table = {
  text: { name: 'Text' },
  refusal: { name: 'Refusal' },
  reasoning: {
    name: 'Reasoning, as a summary or raw',
  },
  reasoningState: { name: 'Reasoning state' },
  functionCall: { name: 'Function call' },
  customCall: { name: 'Call of a custom tool' },
  image: {
    name: 'Generated image',
    types: [imageType],
  },
  webCitation: { name: 'Citation of a web page', types: ['url_citation'] },
  fileCitation: { name: 'Citation of a file', types: ['file_citation', 'container_file_citation', 'file_path'] },
  documentCitation: {
    name: 'Citation of a place in a document of the request',
    types: ['char_location', 'page_location', 'content_block_location'],
  },
  clientTool: {
    name: 'Call that the client has to act on (shell, patch, computer, approval)',
    types: ['local_shell_call', 'shell_call', 'apply_patch_call', 'computer_call', 'mcp_approval_request', 'tool_search_call'],
    isForClient: true,
  },
  hostedTool: {
    name: 'Call of a hosted tool, and its result',
    types: [
      ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'mcp_call', 'mcp_list_tools', 'program', 'program_output'],
      ...['function_call_output', 'custom_tool_call_output', 'shell_call_output', 'local_shell_call_output', 'apply_patch_call_output'],
      ...['computer_call_output', 'tool_search_output', 'mcp_approval_response', 'compaction', 'additional_tools'],
    ],
  },
  other: {
    name: 'Anything else',
  },
} satisfies Readonly<Record<string, OutputFeature>>

/**
 * Types of items that only a client writes: what it says in this turn, such as a decision or a result. They are never records of an earlier
 * answer, even with an id. All other types of the table are written by a provider, or by both: `tool_search_output` and `shell_call_output`
 * have a `call_id` if the client wrote them.
 */
export const clientItems: ReadonlySet<string> = new Set([
  ...['mcp_approval_response', 'computer_call_output', 'local_shell_call_output', 'apply_patch_call_output'],
  ...['function_call_output', 'custom_tool_call_output', 'additional_tools', 'compaction_trigger', 'item_reference'],
])

export type OutputFeatureId = keyof typeof table

/** All response features, in documentation order. */
export const outputFeatures: ReadonlyMap<OutputFeatureId, OutputFeature> = new Map(
  Object.entries(table) as [OutputFeatureId, OutputFeature][],
)

/** What one client dialect does with each response feature. */
export type OutputFidelity = Readonly<Record<OutputFeatureId, Fate>>

const byType: ReadonlyMap<string, OutputFeatureId> = new Map(
  [...outputFeatures].flatMap(([id, { types = [] }]) => types.map(type => [type, id] as const)),
)

/** The feature that an item, a part or an annotation of this type belongs to. */
export const outputFeatureOf = (type: string): OutputFeatureId => byType.get(type) ?? 'other'
