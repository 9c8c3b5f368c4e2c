import * as z from 'zod'
import { gateway, routing, warnings } from './schemas.ts'

/** What clients may send to `/v1/chat/completions`, for the OpenAPI document; the dialect reads it, and names each field at fault. */
export const createChatCompletion = () =>
  z
    .looseObject({
      model: z.string().optional().meta({ description: 'Model id or alias. Required unless `gateway.models` is there.' }),
      messages: z.array(requestMessage()).min(1),
      tools: z.array(z.looseObject({ type: z.string() })).nullish(),
      tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.string() })]).nullish(),
      parallel_tool_calls: z.boolean().nullish(),
      max_completion_tokens: z.int().min(1).nullish(),
      max_tokens: z.int().min(1).nullish().meta({ description: 'The older name of `max_completion_tokens`.' }),
      temperature: z.number().min(0).max(2).nullish(),
      top_p: z.number().min(0).max(1).nullish(),
      top_k: z.int().nullish(),
      logprobs: z.boolean().nullish(),
      top_logprobs: z.int().min(0).max(20).nullish(),
      frequency_penalty: z.number().nullish(),
      presence_penalty: z.number().nullish(),
      stop: z.union([z.string(), z.array(z.string())]).nullish(),
      seed: z.int().nullish(),
      stream: z.boolean().nullish(),
      stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
      response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).nullish(),
      reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      verbosity: z.string().nullish(),
      metadata: z.record(z.string(), z.string()).nullish(),
      user: z.string().nullish(),
      safety_identifier: z.string().nullish(),
      prompt_cache_key: z.string().nullish(),
      service_tier: z.string().nullish(),
      store: z.boolean().nullish(),
      gateway: gateway().optional(),
      extensions: z.looseObject({}).optional().meta({ description: 'Provider-specific parameters.' }),
    })
    .meta({ description: 'Fields that are not listed go on to a provider that speaks this format, and end in a warning elsewhere.' })

const requestMessage = () =>
  z.looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
    tool_calls: z.array(z.looseObject({ id: z.string(), type: z.string() })).nullish(),
    tool_call_id: z.string().optional(),
  })

export const chatCompletion = () =>
  z.looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullish(),
          reasoning_content: z.string().optional(),
          tool_calls: z
            .array(
              z.looseObject({
                id: z.string(),
                type: z.string(),
                function: z.object({ name: z.string(), arguments: z.string() }).optional(),
              }),
            )
            .optional(),
        }),
        finish_reason: z.enum(['stop', 'length', 'tool_calls', 'content_filter']),
        logprobs: z.looseObject({}).nullish(),
      }),
    ),
    usage: z
      .looseObject({
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        total_tokens: z.int(),
        prompt_tokens_details: z.looseObject({ cached_tokens: z.int(), cache_write_tokens: z.int().optional() }).optional(),
        completion_tokens_details: z.looseObject({ reasoning_tokens: z.int() }).optional(),
      })
      .optional(),
    routing_metadata: routing().optional(),
    warnings: warnings().optional(),
  })
