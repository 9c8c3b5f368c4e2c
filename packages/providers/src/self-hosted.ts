import { vendor } from './vendor.ts'

// Self-hosted servers. They need no API key; data retention is up to the operator of the server.

/** Switches reasoning through the chat template of the model. */
const templateSwitch = {
  on: { chat_template_kwargs: { enable_thinking: true } },
  off: { chat_template_kwargs: { enable_thinking: false } },
}

/** Ollama silently ignores the `refuses` fields, so they are dropped with a warning. */
export const ollama = vendor({
  id: 'ollama',
  displayName: 'Ollama',
  baseURL: 'http://127.0.0.1:11434/v1',
  apis: ['chat', 'responses'],
  keyless: true,
  apiKeyVariables: ['OLLAMA_API_KEY'],
  baseURLVariables: ['OLLAMA_BASE_URL', 'OLLAMA_HOST'],
  quirks: {
    maxTokensField: 'max_tokens',
    efforts: ['none', 'low', 'medium', 'high'],
    reasoningField: 'reasoning',
    inlineMediaOnly: true,
    refuses: ['tool_choice_required', 'tool_choice', 'parallel_tool_calls', 'top_k', 'logprobs', 'top_logprobs', 'logit_bias', 'n'],
  },
})

/** vLLM. Reasoning is switched through the model's chat template, and earlier reasoning is returned in `reasoning`. */
export const vllm = vendor({
  id: 'vllm',
  displayName: 'vLLM',
  baseURL: 'http://127.0.0.1:8000/v1',
  apis: ['chat', 'responses'],
  keyless: true,
  apiKeyVariables: ['VLLM_API_KEY'],
  baseURLVariables: ['VLLM_BASE_URL'],
  quirks: {
    maxTokensField: 'max_tokens',
    reasoningField: 'reasoning',
    thinkingSwitch: templateSwitch,
  },
})

/** LM Studio. */
export const lmStudio = vendor({
  id: 'lm-studio',
  displayName: 'LM Studio',
  baseURL: 'http://127.0.0.1:1234/v1',
  apis: ['chat', 'responses'],
  keyless: true,
  apiKeyVariables: ['LM_STUDIO_API_KEY'],
  baseURLVariables: ['LM_STUDIO_BASE_URL'],
  quirks: { maxTokensField: 'max_tokens', inlineMediaOnly: true },
})

/** The llama.cpp server: Chat Completions, Responses and Messages. Source: README of tools/server, 2026-11. */
export const llamaCpp = vendor({
  id: 'llama.cpp',
  displayName: 'llama.cpp',
  baseURL: 'http://127.0.0.1:8080/v1',
  apis: ['chat', 'responses', 'messages'],
  keyless: true,
  apiKeyVariables: ['LLAMA_CPP_API_KEY'],
  baseURLVariables: ['LLAMA_CPP_BASE_URL'],
  quirks: {
    maxTokensField: 'max_tokens',
    reasoningField: 'reasoning_content',
    inlineMediaOnly: true,
    thinkingSwitch: templateSwitch,
  },
})

/** SGLang: Chat Completions and Responses. Source: docs.sglang.ai, OpenAI APIs, 2026-11. */
export const sglang = vendor({
  id: 'sglang',
  displayName: 'SGLang',
  baseURL: 'http://127.0.0.1:30000/v1',
  apis: ['chat', 'responses'],
  keyless: true,
  apiKeyVariables: ['SGLANG_API_KEY'],
  baseURLVariables: ['SGLANG_BASE_URL'],
  quirks: { maxTokensField: 'max_tokens', reasoningField: 'reasoning_content', thinkingSwitch: templateSwitch },
})
