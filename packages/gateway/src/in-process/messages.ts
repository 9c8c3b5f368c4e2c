import type { Extensible, GatewayFields, Nullish, RoutingMetadata, WarningBody } from './responses.ts'

// Types of the Messages API: the fields that most programs use.

/** The body of `POST /v1/messages/count_tokens`. */
export interface CountTokens<ModelId extends string = string, StrategyName extends string = string>
  extends Nullish<PromptOptions<ModelId, StrategyName>> {
  readonly messages: readonly MessageTurn[]
}

/** Has no index signature, so that message types of other packages are assignable. */
interface MessageTurn {
  readonly role: string
  readonly content: string | readonly object[]
}

interface PromptOptions<ModelId extends string, StrategyName extends string> {
  /** Id or alias. Required unless `gateway.models` is set. */
  model: ModelId
  system: string | readonly object[]
  tools: readonly object[]
  tool_choice: object
  thinking: object
  output_config: object
  cache_control: object
  context_management: object
  mcp_servers: readonly object[]
  gateway: GatewayFields<ModelId, StrategyName>
  /** Provider-specific parameters. */
  extensions: Extensible
}

interface AnswerOptions {
  stream: boolean
  stop_sequences: readonly string[]
  temperature: number
  top_p: number
  top_k: number
  metadata: object
  service_tier: string
  container: string | object
  inference_geo: string
  speed: string
  betas: readonly string[]
}

/** The body of `POST /v1/messages`. Provider-specific parameters go into `extensions`. */
export interface CreateMessage<ModelId extends string = string, StrategyName extends string = string>
  extends CountTokens<ModelId, StrategyName>,
    Nullish<AnswerOptions> {
  readonly max_tokens: number
}

/** The body of a Messages response. */
export interface MessageObject extends Extensible {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly MessageBlock[]
  readonly stop_reason: string | null
  readonly stop_sequence: string | null
  readonly usage: MessageUsage
  readonly routing_metadata?: RoutingMetadata
  readonly warnings?: readonly WarningBody[]
}

type MessageBlock =
  | ({ readonly type: 'text'; readonly text: string } & Extensible)
  | ({ readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown } & Extensible)
  | ({ readonly type: 'thinking'; readonly thinking: string; readonly signature: string } & Extensible)
  | ({ readonly type: 'redacted_thinking'; readonly data: string } & Extensible)

interface MessageUsage extends Extensible {
  readonly input_tokens: number
  readonly output_tokens: number
}

type BlockDelta =
  | ({ readonly type: 'text_delta'; readonly text: string } & Extensible)
  | ({ readonly type: 'input_json_delta'; readonly partial_json: string } & Extensible)
  | ({ readonly type: 'thinking_delta'; readonly thinking: string } & Extensible)
  | ({ readonly type: 'signature_delta'; readonly signature: string } & Extensible)
  | ({ readonly type: 'citations_delta'; readonly citation: Extensible } & Extensible)

/** Discriminated by `type`. Does not include `error`, because failures are thrown. */
export type MessageStreamEvent =
  | ({ readonly type: 'message_start'; readonly message: MessageObject } & Extensible)
  | ({ readonly type: 'content_block_start'; readonly index: number; readonly content_block: MessageBlock } & Extensible)
  | ({ readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta } & Extensible)
  | ({ readonly type: 'content_block_stop'; readonly index: number } & Extensible)
  | ({
      readonly type: 'message_delta'
      readonly delta: { readonly stop_reason: string | null; readonly stop_sequence: string | null } & Extensible
      readonly usage: MessageUsage
    } & Extensible)
  | ({ readonly type: 'message_stop' | 'ping' } & Extensible)

export interface MessagesShapes<ModelId extends string = string, StrategyName extends string = string> {
  readonly body: CreateMessage<ModelId, StrategyName>
  readonly whole: MessageObject
  readonly event: MessageStreamEvent
}
