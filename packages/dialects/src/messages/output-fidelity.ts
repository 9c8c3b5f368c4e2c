import type { OutputFidelity } from '../common/output-features.ts'

export const outputFidelity: OutputFidelity = {
  text: 'kept',
  refusal: 'mapped',
  reasoning: 'mapped',
  reasoningState: 'mapped',
  functionCall: 'mapped',
  customCall: 'mapped',
  image: 'approximated',
  webCitation: 'mapped',
  fileCitation: 'dropped',
  documentCitation: 'kept',
  clientTool: 'dropped',
  hostedTool: 'dropped',
  other: 'dropped',
}
