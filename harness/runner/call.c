/* One libffi call interface per call: preparing it costs well under a microsecond. */
#include "runner/call.h"

#include <ffi.h>

/* The C ABI type of a scalar; NULL if there is none. __half and __nv_bfloat16 are classes with one
 * 16-bit member and no special copying: the ABIs pass those like the member. */
static ffi_type *scalar_type(enum wire_type type)
{
    unsigned bytes = wire_type_bytes(type);
    switch (wire_type_kind(type)) {
    case 's':
        return bytes == 1   ? &ffi_type_sint8
               : bytes == 2 ? &ffi_type_sint16
               : bytes == 4 ? &ffi_type_sint32
                            : &ffi_type_sint64;
    case 'f':
        return bytes == 2 ? &ffi_type_uint16 : bytes == 4 ? &ffi_type_float : &ffi_type_double;
    case 'u':
        if (type == WIRE_void)
            return NULL;
        return bytes == 1   ? &ffi_type_uint8
               : bytes == 2 ? &ffi_type_uint16
               : bytes == 4 ? &ffi_type_uint32
                            : &ffi_type_uint64;
    default:
        return NULL;
    }
}

int call(call_entry entry, const struct wire_param *params, unsigned count, void *const *pointers,
         struct err *e)
{
    ffi_type *types[WIRE_PARAMS_MAX];
    void *values[WIRE_PARAMS_MAX];
    uint64_t scalars[WIRE_PARAMS_MAX]; /* little-endian: a narrower value is at its address too */
    void *passed[WIRE_PARAMS_MAX];
    for (unsigned i = 0; i < count; i++) {
        if (params[i].kind == WIRE_PARAM_SCALAR) {
            types[i] = scalar_type((enum wire_type)params[i].type);
            if (!types[i])
                return err_set(e, "the parameter %s has a type that cannot be passed by value",
                               params[i].name);
            scalars[i] = params[i].scalar;
            values[i] = &scalars[i];
        } else {
            types[i] = &ffi_type_pointer;
            passed[i] = pointers[i];
            values[i] = &passed[i];
        }
    }
    ffi_cif interface;
    if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, count, &ffi_type_void, types) != FFI_OK)
        return err_set(e, "libffi cannot make a call with %u parameters", count);
    ffi_call(&interface, entry, NULL, values);
    return 0;
}
