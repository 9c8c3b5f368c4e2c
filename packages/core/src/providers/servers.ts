import { vendor } from './vendor.ts'

// Servers of one's own. They ask for no key, and what they keep is their owner's affair.

/** Whether a model thinks is a matter of its chat template. */
const templateSwitch = {
  on: { chat_template_kwargs: { enable_thinking: true } },
  off: { chat_template_kwargs: { enable_thinking: false } },
}

/** What it leaves out it leaves out in silence, so we say it. */
export const ollama = vendor({
  id: 'ollama',
  display_name: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  speaks: ['chat', 'responses'],
  keyless: true,
  quirks: {
    max_tokens_field: 'max_tokens',
    efforts: ['none', 'low', 'medium', 'high'],
    reasoning_field: 'reasoning',
    bytes_only: true,
    refuses: ['tool_choice_required', 'tool_choice', 'parallel_tool_calls', 'top_k', 'logprobs', 'top_logprobs', 'logit_bias', 'n'],
  },
})

/** Whether a model thinks is a matter of its chat template there, and thoughts go back as `reasoning`. */
export const vllm = vendor({
  id: 'vllm',
  display_name: 'vLLM',
  baseUrl: 'http://127.0.0.1:8000/v1',
  speaks: ['chat', 'responses'],
  keyless: true,
  quirks: {
    max_tokens_field: 'max_tokens',
    reasoning_field: 'reasoning',
    thinking_switch: templateSwitch,
  },
})

/** LM Studio on this machine; it needs no key. */
export const lmStudio = vendor({
  id: 'lm-studio',
  display_name: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  speaks: ['chat', 'responses'],
  keyless: true,
  quirks: { max_tokens_field: 'max_tokens', bytes_only: true },
})

/** The server of llama.cpp: Chat Completions, Responses and Messages. Source: its README of tools/server, 2026-11. */
export const llamaCpp = vendor({
  id: 'llama.cpp',
  display_name: 'llama.cpp',
  baseUrl: 'http://127.0.0.1:8080/v1',
  speaks: ['chat', 'responses', 'messages'],
  keyless: true,
  quirks: {
    max_tokens_field: 'max_tokens',
    reasoning_field: 'reasoning_content',
    bytes_only: true,
    thinking_switch: templateSwitch,
  },
})

/** SGLang: Chat Completions and Responses. Source: docs.sglang.ai, OpenAI APIs, 2026-11. */
export const sglang = vendor({
  id: 'sglang',
  display_name: 'SGLang',
  baseUrl: 'http://127.0.0.1:30000/v1',
  speaks: ['chat', 'responses'],
  keyless: true,
  quirks: { max_tokens_field: 'max_tokens', reasoning_field: 'reasoning_content', thinking_switch: templateSwitch },
})
