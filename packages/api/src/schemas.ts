import * as z from 'zod'
import { chatCompletion, createChatCompletion } from './inference/chat-schemas.ts'
import { countTokens, createMessage, message, messagesError } from './inference/messages-schemas.ts'
import { createResponse, response } from './inference/schemas.ts'

/** Every body that the API takes or gives, for the OpenAPI document. Made when asked for: nothing is built on import. */
export const makeSchemas = () => ({
  CreateResponse: createResponse(),
  Response: response(),
  CreateChatCompletion: createChatCompletion(),
  ChatCompletion: chatCompletion(),
  CreateMessage: createMessage(),
  Message: message(),
  CountTokens: countTokens(),
  TokenCount: z.object({ input_tokens: z.int() }),
  Model: model(),
  ModelList: z.object({
    object: z.literal('list'),
    data: z.array(model()),
    count: z.int(),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
  Identity: identity(),
  OpenApi: z.looseObject({ openapi: z.string() }).meta({ description: 'An OpenAPI 3.1 document.' }),
  Health: z.object({ status: z.enum(['ok', 'not_ready']), problems: z.array(z.string()).optional() }),
  Error: error(),
  MessagesError: messagesError(),
})

export type SchemaName = keyof ReturnType<typeof makeSchemas>

function model() {
  const price = z.number().optional().meta({ description: 'USD per million tokens. Absent where nobody knows it.' })
  return z.object({
    id: z.string().meta({ description: 'Canonical id.' }),
    object: z.literal('model'),
    type: z.literal('model'),
    created: z.int().meta({ description: 'Unix seconds.' }),
    created_at: z.iso.datetime(),
    display_name: z.string(),
    owned_by: z.string().meta({ description: 'The operator of this service.' }),
    context_window: z.int().optional().meta({ description: 'The largest among its providers, in tokens.' }),
    supported_endpoints: z.array(z.enum(['responses', 'chat_completions', 'messages'])),
    providers: z.array(z.object({ name: z.string(), input_price: price, output_price: price, data_policy: z.string().optional() })),
  })
}

const identity = () =>
  z.object({
    credential_type: z.literal('api_key'),
    status: z.literal('active'),
    profile: z.enum(['inference', 'management', 'mixed']),
    key_id: z.uuid(),
    key_prefix: z.string(),
    key_name: z.string(),
    workspace: z.object({ id: z.string(), name: z.string() }),
    scopes: z.array(z.string()),
    rate_limits: z.object({ inference_rpm: z.int(), management_reads_rpm: z.int(), management_writes_rpm: z.int() }),
    expires_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  })

const error = () =>
  z.object({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
      suggestion: z.string().optional(),
      doc_url: z.string().optional(),
    }),
  })
