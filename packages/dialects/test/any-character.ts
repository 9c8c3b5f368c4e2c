import fc from 'fast-check'

const surrogates = { from: 0xd800, count: 0x800 }

/**
 * Any code point but surrogates, as a unit of strings: `fc.string({ unit: anyCharacter })`. As the unit `binary` of fast-check, which first
 * takes a second to make a table of them all.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff - surrogates.count }))
  .map(code => String.fromCodePoint(code < surrogates.from ? code : code + surrogates.count))
