/** The name of the AI SDK's dialect, which is loaded on first use. */
export const aiSdkName = 'ai-sdk'
