"""The inner loops that no array library is fast at, in C++: compiled by the system's compiler when first wanted.

A source (*.cpp) here is compiled by `sim.native.build` with the flags that suit this machine, kept in the user's cache
directory, and loaded with ctypes. Where there is no compiler, the other back ends serve.

What every source keeps to, so that a run's numbers never depend on which runs are computed with it:

* a run, or a client of a run, is a lane of a vector (`lanes.h`), and lanes never mix; every width is padded to whole
  vectors, so no run is ever computed by the scalar code that a compiler makes of left-over loop trips;
* no flag lets the compiler reorder sums (no -ffast-math) or fuse products with sums where it likes
  (-ffp-contract=off): what is to be fused is written so;
* the random numbers are those of `sim.streams`, the same integers (`philox.h`).
"""
