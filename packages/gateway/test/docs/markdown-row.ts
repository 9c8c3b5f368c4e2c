/** A row of a Markdown table. */
export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
