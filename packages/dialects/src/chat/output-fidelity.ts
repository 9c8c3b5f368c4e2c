import type { OutputFidelity } from '../common/output-features.ts'

export const outputFidelity: OutputFidelity = {
  text: 'kept',
  refusal: 'kept',
  reasoning: 'mapped',
  reasoningState: 'mapped',
  functionCall: 'kept',
  customCall: 'kept',
  image: 'mapped',
  webCitation: 'mapped',
  fileCitation: 'dropped',
  documentCitation: 'dropped',
  clientTool: 'dropped',
  hostedTool: 'dropped',
  other: 'dropped',
}
