/**
 * The first characters of a text, without keeping the rest of it in memory: engines represent a slice as a reference to the whole text.
 * For a slice that is kept longer than its text.
 *
 * @example copySlice('x'.repeat(8_000_000), 100)
 */
export const copySlice = (text: string, length: number): string => (length >= text.length ? text : ` ${text.slice(0, length)}`.slice(1))
