import * as z from 'zod'
import { gateway, routing, warnings } from './schemas.ts'

const rest = 'Fields that are not listed go on to a provider that speaks this format, and end in a warning elsewhere.'

/** What clients may send to `/v1/messages`, for the OpenAPI document; the dialect reads it, and names each field at fault. */
export const createMessage = () =>
  z
    .looseObject({
      ...asked(),
      max_tokens: z.int().min(1),
      stop_sequences: z.array(z.string()).optional(),
      stream: z.boolean().optional(),
      temperature: z.number().min(0).max(1).optional(),
      top_p: z.number().min(0).max(1).optional(),
      top_k: z.int().optional(),
      metadata: z.looseObject({ user_id: z.string().nullish() }).optional(),
      service_tier: z.string().optional(),
      extensions: z.looseObject({}).optional().meta({ description: 'Provider-specific parameters.' }),
    })
    .meta({ description: rest })

/** The same without what only an answer needs. */
export const countTokens = () => z.looseObject(asked()).meta({ description: rest })

const asked = () => ({
  model: z.string().optional().meta({ description: 'Model id or alias. Required unless `gateway.models` is there.' }),
  messages: z.array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: content() })),
  system: content().optional(),
  tools: z.array(z.looseObject({ name: z.string().optional(), type: z.string().optional() })).optional(),
  tool_choice: z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']) }).optional(),
  thinking: z.looseObject({ type: z.string(), budget_tokens: z.int().optional() }).optional(),
  output_config: z.looseObject({ effort: z.string().nullish(), format: z.looseObject({ type: z.string() }).nullish() }).optional(),
  gateway: gateway().optional(),
})

const content = () => z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])

export const message = () =>
  z.looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullable(),
    usage: z.looseObject({
      input_tokens: z.int(),
      output_tokens: z.int(),
      cache_creation_input_tokens: z.int().nullish(),
      cache_read_input_tokens: z.int().nullish(),
    }),
    routing_metadata: routing().optional(),
    warnings: warnings().optional(),
  })

export const messagesError = () =>
  z.object({
    type: z.literal('error'),
    error: z.looseObject({ type: z.string(), message: z.string(), code: z.string().optional(), param: z.string().nullish() }),
    request_id: z.string().optional(),
  })
