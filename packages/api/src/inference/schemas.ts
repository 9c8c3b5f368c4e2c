import * as z from 'zod'

/** What clients may send, for the OpenAPI document; it is read by the dialect, which names each field at fault. */
export const createResponse = () =>
  z
    .looseObject({
      model: z.string().optional().meta({ description: 'Model id or alias. Required unless `gateway.models` is there.' }),
      input: z.union([z.string(), z.array(inputItem())]),
      instructions: z.string().nullish(),
      tools: z.array(z.looseObject({ type: z.string() })).optional(),
      tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.string() })]).optional(),
      parallel_tool_calls: z.boolean().nullish(),
      max_output_tokens: z.int().min(1).nullish(),
      max_tool_calls: z.int().min(1).nullish(),
      temperature: z.number().min(0).max(2).nullish(),
      top_p: z.number().min(0).max(1).nullish(),
      top_k: z.int().nullish(),
      top_logprobs: z.int().min(0).max(20).nullish(),
      frequency_penalty: z.number().nullish(),
      presence_penalty: z.number().nullish(),
      stream: z.boolean().nullish(),
      text: z.looseObject({ format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).optional() }).optional(),
      reasoning: reasoning().nullish(),
      truncation: z.string().nullish(),
      metadata: z.record(z.string(), z.string()).nullish(),
      include: z.array(z.string()).nullish(),
      user: z.string().optional(),
      safety_identifier: z.string().optional(),
      prompt_cache_key: z.string().optional(),
      store: z.literal(false).nullish().meta({ description: 'Nothing is stored; `true` is refused.' }),
      gateway: gateway().optional(),
      extensions: z.looseObject({}).optional().meta({ description: 'Provider-specific parameters.' }),
    })
    .meta({ description: 'Fields that are not listed go on to a provider that speaks this format, and end in a warning elsewhere.' })

const inputItem = () =>
  z.looseObject({ type: z.string().optional(), role: z.enum(['user', 'assistant', 'system', 'developer']).optional() })

const reasoning = () =>
  z.object({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off']).nullish(),
    summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    generate_summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
  })

export const gateway = () =>
  z.strictObject({
    models: z.array(z.string()).min(1).optional().meta({ description: 'A pool of models, in place of `model`.' }),
    metadata: z.record(z.string(), z.string()).optional(),
    routing: z
      .strictObject({
        strategy: z.string().optional(),
        tier: z.literal('priority').optional(),
        timeout_ms: z.int().min(1).optional(),
        deadline_ms: z.int().min(1).optional(),
        allow_fallbacks: z.boolean().optional(),
        order: z.array(z.string()).optional(),
        only: z.array(z.string()).optional(),
        ignore: z.array(z.string()).optional(),
        max_price: z.object({ input: z.number().optional(), output: z.number().optional() }).optional(),
        data_policy: z.enum(['any', 'no_training', 'zdr']).optional().meta({ description: 'What a provider must promise at the least.' }),
        hedge: z
          .boolean()
          .optional()
          .meta({ description: 'A second provider may be asked while the first is silent; its prompt is billed too. Streams only.' }),
        byok_first: z
          .boolean()
          .optional()
          .meta({ description: 'Credentials of your own go before those of the gateway (default), or after.' }),
        strict: z.boolean().optional().meta({ description: 'Whatever would be a warning is a 400.' }),
      })
      .optional(),
  })

export const response = () =>
  z.looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullish(),
    model: z.string(),
    status: z.enum(['completed', 'failed', 'incomplete', 'in_progress']),
    output: z.array(z.looseObject({ type: z.string() })),
    output_text: z.string().optional(),
    usage: usage().nullish(),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullish(),
    incomplete_details: z.looseObject({ reason: z.string() }).nullish(),
    metadata: z.record(z.string(), z.string()).nullish(),
    routing_metadata: routing().optional(),
    warnings: warnings().optional(),
  })

export const warnings = () => z.array(z.object({ code: z.string(), message: z.string(), param: z.string().optional() }))

const usage = () =>
  z.looseObject({
    input_tokens: z.int(),
    output_tokens: z.int(),
    total_tokens: z.int(),
    input_tokens_details: z.looseObject({ cached_tokens: z.int(), cache_write_tokens: z.int().optional() }).optional(),
    output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }).optional(),
  })

export const routing = () =>
  z.looseObject({
    provider: z.string(),
    provider_model_id: z.string(),
    model_canonical: z.string(),
    routing_strategy: z.string(),
    throughput_tps: z.number().optional(),
    cost: z.object({ usd: z.number(), byok_usd: z.number().optional() }).optional(),
  })
