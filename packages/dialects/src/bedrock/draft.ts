import { BodyDraft } from '../common/body-draft.ts'
import type { JsonObject } from '../protocol/wire.ts'

/** The body of a Bedrock request while it is encoded. */
export class BedrockDraft extends BodyDraft {
  /** `additionalModelRequestFields`: what Converse has no field for. */
  readonly model = new BodyDraft(this.quirks, this.schemas, this.warnings)

  override get body(): JsonObject {
    const { body } = this.model
    return Object.keys(body).length > 0 ? { ...super.body, additionalModelRequestFields: body } : super.body
  }
}
